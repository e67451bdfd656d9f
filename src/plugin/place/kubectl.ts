// The user's own kubectl, for what only it can do: logs that follow, and programs inside of pods. It is given the same
// context, namespace and user as the plugin.
import { spawn } from "node:child_process";
import type { Flags } from "../line/flags.ts";
import { commandInWords, hideSecrets } from "./hide-secrets.ts";
import { Refusal } from "./refusal.ts";

export interface Kubectl {
  /** Shares the terminal with it. Gives its exit code. */
  run(args: readonly string[]): Promise<number>;
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

export function kubectlOf(flags: Flags, signal: AbortSignal): Kubectl {
  const call = (args: readonly string[], stdout: "inherit" | "pipe"): Promise<Ended> =>
    ended([...sameFlags(flags), ...args], stdout, signal);
  return {
    async run(args) {
      return (await call(args, "inherit")).code;
    },
    async read(args) {
      const { code, stdout, stderr } = await call(args, "pipe");
      if (code === 0) return stdout;
      const why = hideSecrets(stderr.trim()) || `it ended with ${code}`;
      throw new Refusal(`${commandInWords("kubectl", args)} failed: ${why}`);
    },
  };
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function ended(args: readonly string[], mode: "inherit" | "pipe", signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn("kubectl", [...args], {
      stdio: mode === "inherit" ? "inherit" : ["ignore", "pipe", "pipe"],
      // With a terminal of its own it hears Ctrl-C itself, and ends in its own way.
      ...(mode === "pipe" && { signal }),
    });
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", (error) => {
      const isMissing = "code" in error && error.code === "ENOENT";
      reject(isMissing ? new Refusal("kubectl is not in your PATH: install it, or add its folder to PATH.") : error);
    });
    child.on("close", (code) =>
      resolve({
        code: code ?? 1,
        stdout: Buffer.concat(stdout).toString("utf8"),
        stderr: Buffer.concat(stderr).toString("utf8"),
      }),
    );
  });
}
