// The user's own kubectl, for what only it can do: logs that follow, and programs inside of pods. It is given the same
// context, namespace and user as the plugin.
import { type ChildProcess, spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { Flags } from "../line/flags.ts";
import { cleanStream } from "./clean-stream.ts";
import { commandInWords, hideSecrets } from "./hide-secrets.ts";
import { Refusal } from "./refusal.ts";

/**
 * `text`: lines for people. `bytes`: data, as values of etcd, that a file or a program gets as they are. What goes to a
 * terminal is cleaned in either case.
 */
type PrintedOutput = "text" | "bytes";

export interface Kubectl {
  /** Shares the terminal with it. Gives its exit code. */
  run(args: readonly string[], output: PrintedOutput): Promise<number>;
  /** Gives what it printed; fails with a sentence that quotes what it said. */
  read(args: readonly string[]): Promise<string>;
}

const handedOn = ["kubeconfig", "context", "namespace", "as"] as const;

/** The flags of the plugin that kubectl takes, too. */
export function sameFlags(flags: Flags): string[] {
  return [
    ...handedOn.flatMap((name) => {
      const value = flags.text(name);
      return value === undefined ? [] : [`--${name}=${value}`];
    }),
    ...flags.all("as-group").map((group) => `--as-group=${group}`),
  ];
}

type Standard = Pick<NodeJS.Process, "stdout" | "stderr">;

export function kubectlOf(flags: Flags, standard: Standard, signal: AbortSignal): Kubectl {
  return {
    run: (args, output) => printing([...sameFlags(flags), ...args], output, standard),
    async read(args) {
      const { code, stdout, stderr } = await collected([...sameFlags(flags), ...args], signal);
      if (code === 0) return stdout;
      const why = hideSecrets(stderr.trim()) || `it exited with ${code}`;
      throw new Refusal(`${commandInWords("kubectl", args)} failed: ${why}`);
    },
  };
}

async function printing(args: readonly string[], output: PrintedOutput, { stdout, stderr }: Standard): Promise<number> {
  const asItIs = output === "bytes" && !stdout.isTTY;
  // It hears Ctrl-C itself, from the terminal, and ends in its own way.
  const child = spawn("kubectl", [...args], { stdio: ["inherit", asItIs ? "inherit" : "pipe", "pipe"] });
  const pipes = [
    [child.stdout, stdout],
    [child.stderr, stderr],
  ] as const;
  const [code] = await Promise.all([
    codeOf(child),
    ...pipes.map(([from, to]) => from && pipeline(from, cleanStream, to, { end: false })),
  ]);
  return code;
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function collected(args: readonly string[], signal: AbortSignal): Promise<Ended> {
  const child = spawn("kubectl", [...args], { stdio: ["ignore", "pipe", "pipe"], signal });
  const [code, stdout, stderr] = await Promise.all([codeOf(child), text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}

function codeOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on("error", (error) => {
      const isMissing = "code" in error && error.code === "ENOENT";
      reject(isMissing ? new Refusal("kubectl is not in your PATH: install it, or add its folder to PATH.") : error);
    });
    child.on("close", (code) => resolve(code ?? 1));
  });
}
