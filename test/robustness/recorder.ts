// The recorder as a child process: clients that send traffic to an etcd cluster and record what they see.
import { spawn } from "node:child_process";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { ensureBuilt } from "../../lab/build/cache.ts";
import { robustnessRecipe } from "../../lab/build/tools.ts";
import { CommandError } from "../../lab/machine/command.ts";

/** The recorder and the judge are one program. */
export async function robustnessProgram(): Promise<string> {
  return path.join(await ensureBuilt(await robustnessRecipe()), "robustness");
}

export interface RecorderOptions {
  readonly endpoints: readonly string[];
  /** The folder to make. One with something in it is refused. */
  readonly out: string;
  /** Default: until it is stopped. */
  readonly seconds?: number;
  readonly seed?: number;
  readonly clients?: number;
  /** At most this many steps a second, of all clients together. A step is one to three requests. */
  readonly rate?: number;
  /** In which the last write has to succeed, and its watchers have to see it. */
  readonly settleSeconds?: number;
  readonly requestTimeoutMs?: number;
  readonly compactEverySeconds?: number;
  /** Files. */
  readonly tls?: { readonly ca: string; readonly cert?: string; readonly key?: string };
  readonly login?: { readonly username: string; readonly password: string };
}

/** The longest time without an acknowledged write. */
export interface Gap {
  readonly ms: number;
  /** After `began`. */
  readonly fromMs: number;
  readonly from: string;
}

export interface Summary {
  readonly began: string;
  readonly seconds: number;
  readonly seed: number;
  readonly operations: number;
  readonly reads: number;
  readonly failedReads: number;
  /** Writes that succeeded, that may or may not have, and that a member refused. */
  readonly acknowledged: number;
  readonly unanswered: number;
  readonly refused: number;
  /** Reads and writes a second that succeeded. */
  readonly rate: number;
  readonly longestWriteGap: Gap;
  /** A write after the traffic succeeded. */
  readonly lastWrite: boolean;
  readonly lastRevision: number;
  /** Clients that watched a member to the end. */
  readonly followers: readonly number[];
}

export class Recorder implements AsyncDisposable {
  readonly #stop: (signal: NodeJS.Signals) => void;
  readonly #summary: Promise<Summary>;

  private constructor(stop: (signal: NodeJS.Signals) => void, summary: Promise<Summary>) {
    this.#stop = stop;
    this.#summary = summary;
  }

  /** Resolves when it has read the empty database and its traffic begins. */
  static async start(options: RecorderOptions): Promise<Recorder> {
    // The kernel kills it with this process, in case that one is killed before it can clean up.
    const program = ["--pdeathsig", "KILL", "--", await robustnessProgram()];
    const child = spawn("setpriv", [...program, "record", ...flagsOf(options)], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...(options.login && { ROBUSTNESS_PASSWORD: options.login.password }) },
    });
    const { promise: began, resolve: begin, reject: fail } = Promise.withResolvers<void>();
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line === "recording") begin();
      else stderr += `${line}\n`;
    });
    const summary = new Promise<Summary>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => {
        if (code === 0) resolve(JSON.parse(stdout) as Summary);
        else reject(new CommandError("robustness record", code, stderr));
      });
    });
    summary.catch(fail);
    await began;
    return new Recorder((signal) => child.kill(signal), summary);
  }

  /** When its time is over, its last write succeeded or not, and the recording is saved. */
  get done(): Promise<Summary> {
    return this.#summary;
  }

  /** Ends the traffic. */
  stop(): Promise<Summary> {
    this.#stop("SIGTERM");
    return this.#summary;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop("SIGKILL");
    // Whoever wants to know how it ended asks for `done`.
    await this.#summary.catch(() => undefined);
  }
}

function flagsOf(options: RecorderOptions): string[] {
  const flags: Record<string, string | number | undefined> = {
    endpoints: options.endpoints.join(","),
    out: options.out,
    duration: options.seconds === undefined ? undefined : `${options.seconds}s`,
    seed: options.seed,
    clients: options.clients,
    rate: options.rate,
    settle: options.settleSeconds === undefined ? undefined : `${options.settleSeconds}s`,
    "request-timeout": options.requestTimeoutMs === undefined ? undefined : `${options.requestTimeoutMs}ms`,
    "compact-every": options.compactEverySeconds === undefined ? undefined : `${options.compactEverySeconds}s`,
    ca: options.tls?.ca,
    cert: options.tls?.cert,
    key: options.tls?.key,
    user: options.login?.username,
  };
  return Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, String(value)]));
}
