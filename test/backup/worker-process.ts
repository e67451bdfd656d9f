// The worker as a process of its own, from the bundle that the image has, with the image's settings of Node.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { bundle, workerFlag } from "../../lab/images/bundle.ts";
import { nodeEnvironment } from "../../lab/images/node.ts";
import type { Job, Result } from "../../src/worker/job.ts";
import { etcdutl } from "./jobs.ts";

interface Ended {
  readonly code: number | null;
  readonly result: Result;
  /** Lines of the log. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

export class WorkerProgram implements AsyncDisposable {
  readonly folder: string;
  readonly #program: string;

  private constructor(folder: string, program: string) {
    this.folder = folder;
    this.#program = program;
  }

  static async make(): Promise<WorkerProgram> {
    const folder = await mkdtemp(path.join(tmpdir(), "worker-program-"));
    return new WorkerProgram(folder, await bundle("src/worker/program/main.ts", path.join(folder, "etcd-worker.cjs")));
  }

  /** `during` gets the process and every line of its log as it comes. */
  async run(
    job: Job | string,
    env: Readonly<Record<string, string>> = {},
    during: (line: string, child: ChildProcess) => void = () => {},
  ): Promise<Ended> {
    const output = path.join(this.folder, "result");
    await rm(output, { force: true });
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", process.execPath, workerFlag, this.#program], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"] ?? "",
        ...nodeEnvironment,
        ETCD_WORKER_JOB: typeof job === "string" ? job : JSON.stringify(job),
        ETCD_WORKER_RESULT: output,
        ETCD_WORKER_SCRATCH: this.folder,
        ETCD_WORKER_ETCDUTL: await etcdutl(),
        ...env,
      },
    });
    let text = "";
    child.stderr.setEncoding("utf8").on("data", (more: string) => (text += more));
    child.stdout.setEncoding("utf8").on("data", (more: string) => {
      text += more;
      for (const line of more.split("\n")) if (line !== "") during(line, child);
    });
    await once(child, "close");
    const written = await readFile(output, "utf8").catch(() => {
      throw new Error(`the worker left no result:\n${text}`);
    });
    const lines = text.split("\n").filter((line) => line !== "");
    return {
      code: child.exitCode,
      result: JSON.parse(written) as Result,
      lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
