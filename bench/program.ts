// The programs that are measured: bundled as the operator is, run with the flags of its image, on the host or in a pod.
import { type ChildProcess, spawn } from "node:child_process";
import * as path from "node:path";
import { labNodes, type LabConfig } from "../lab/config.ts";
import { ensureArchive } from "../lab/images/archive.ts";
import { bundle, nodeFlag, tree } from "../lab/images/bundle.ts";
import { loadImages } from "../lab/images/load.ts";
import { commandPath, nodeEnvironment, nodeImage } from "../lab/images/node.ts";
import { forgetOthers } from "../lab/images/operator.ts";
import { program } from "../lab/images/programs.ts";

export type ProgramName = "pod" | "bare-pod" | "cached-list" | "bare-list";

const output = path.join(tree, "dist", "bench");
export const benchImageTag = "lab.local/bench:latest";

const bundleProgram = (name: ProgramName): Promise<string> =>
  bundle(`bench/programs/${name}.ts`, path.join(output, `${name}.cjs`));

/** Puts the image with the programs that run in pods on every node. */
export async function loadBenchImage(lab: LabConfig): Promise<void> {
  const names: ProgramName[] = ["pod", "bare-pod"];
  const programs = await Promise.all(names.map(async (name) => program(commandPath(name), await bundleProgram(name))));
  const archive = await ensureArchive(await nodeImage(benchImageTag, "pod", programs), output);
  await forgetOthers(archive.file);
  await Promise.all(labNodes(lab).map((node) => loadImages(node, [archive])));
}

/** A program of ours that runs on the host until it is ended. */
export class Running implements AsyncDisposable {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;

  constructor(child: ChildProcess) {
    if (child.pid === undefined) throw new Error("a program could not be started");
    this.#child = child;
    this.pid = child.pid;
    this.#exited = new Promise((resolve) => child.once("exit", () => resolve()));
  }

  /** The first line that it prints, as JSON. */
  async firstLine(): Promise<unknown> {
    let text = "";
    const { stdout } = this.#child;
    if (stdout === null) throw new Error("the program's output is not read");
    for await (const chunk of stdout) {
      text += String(chunk);
      if (text.includes("\n")) return JSON.parse(text.slice(0, text.indexOf("\n")));
    }
    throw new Error(`a program ended before it said anything, with exit code ${this.#child.exitCode}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }
}

export async function startOnHost(
  name: ProgramName,
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<Running> {
  const file = await bundleProgram(name);
  const child = spawn(process.execPath, [nodeFlag, file], {
    env: { ...nodeEnvironment, ...env },
    stdio: ["ignore", "pipe", "inherit"],
    signal,
    killSignal: "SIGKILL",
  });
  child.on("error", () => undefined); // reported by the missing pid, by the missing line, or of our own making
  return new Running(child);
}
