// A server of object storage as a process: started on a given address with its data in a folder, awaited until it answers,
// and ended by its pid. The kernel ends it with the process that started it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import * as path from "node:path";
import { waitFor } from "../progress.ts";

export { freePort } from "../machine/free-port.ts";

/** Where it listens, and where it keeps its objects. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly folder: string;
}

interface Program {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  /** Default: http. */
  readonly scheme?: "http" | "https";
  readonly env?: Readonly<Record<string, string>>;
}

export class StoreServer implements AsyncDisposable {
  readonly url: string;
  readonly #place: Place;
  readonly #program: Program;
  #child: ChildProcess | undefined;

  private constructor(place: Place, program: Program) {
    this.#place = place;
    this.#program = program;
    this.url = `${program.scheme ?? "http"}://${place.host}:${place.port}`;
  }

  static async start(place: Place, program: Program): Promise<StoreServer> {
    await mkdir(place.folder, { recursive: true });
    const server = new StoreServer(place, program);
    await server.revive();
    return server;
  }

  /** Starts it, or starts it again with what it has kept. */
  async revive(): Promise<void> {
    const { name, argv, env } = this.#program;
    const log = openSync(this.#logFile, "a");
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", ...argv], {
      stdio: ["ignore", log, log],
      env: { ...process.env, ...env },
    });
    closeSync(log);
    this.#child = child;
    try {
      const end = await waitFor(
        `${name} to answer at ${this.url}`,
        async () => {
          if (child.exitCode !== null) return "exited";
          return (await answers(this.#place, this.#program.scheme ?? "http")) ? "answers" : undefined;
        },
        { timeoutMs: 120_000, everyMs: 30, lastSeen: () => this.log },
      );
      if (end === "exited") throw new Error(`${name} exited with ${child.exitCode}: ${this.log}`);
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.#program.name} does not run`);
    return pid;
  }

  get log(): string {
    return readFileSync(this.#logFile, "utf8").slice(-2000);
  }

  /** Ends it without a word, as a crash does. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  get #logFile(): string {
    return path.join(path.dirname(this.#place.folder), `${this.#program.name}-${this.#place.port}.log`);
  }
}

/** Whatever it answers: that it does is enough. */
function answers({ host, port }: Place, scheme: "http" | "https"): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const { request } = scheme === "https" ? https : http;
  const options = { host, port, path: "/", agent: false, timeout: 2000, rejectUnauthorized: false };
  const asked = request(options, (response) => {
    response.resume();
    resolve(true);
  });
  asked.on("error", () => resolve(false));
  asked.on("timeout", () => asked.destroy());
  asked.end();
  return promise;
}
