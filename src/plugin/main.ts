// `kubectl etcd`: the entry of the plugin, a bundle of its own. It checks Node before it loads anything that needs a new one.
import { oldestNode, tooOld } from "./node-version.ts";

async function main(): Promise<void> {
  if (tooOld(process.versions.node)) {
    process.stderr.write(
      `kubectl-etcd needs Node ${oldestNode} or newer, but this is ${process.versions.node}: install a newer Node, or put it first in PATH.\n`,
    );
    process.exitCode = 1;
    return;
  }
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stopping.abort());
  // A reader that has seen enough, as `head`, closes the pipe.
  process.stdout.on("error", () => process.exit(0));
  const { ofProcess, runProgram } = await import("./program.ts");
  process.exitCode = await runProgram(process.argv.slice(2), ofProcess(process, stopping.signal));
  // Requests that nobody waits for any more must not keep the terminal.
  process.stdout.write("", () => process.exit());
}

void main();
