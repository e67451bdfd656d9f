// A registry of images on an address of this machine, which is empty at first.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { ensureRegistry } from "../../../release/programs/programs.ts";

export interface Registry {
  /** As in 127.0.0.1:5000. */
  readonly address: string;
  readonly stop: () => Promise<void>;
}

export async function startRegistry(host = "127.0.0.1"): Promise<Registry> {
  const program = await ensureRegistry();
  const folder = await mkdtemp(path.join(tmpdir(), "registry-"));
  // It ends with its standard input, and so with this process.
  const child = spawn(program, [`${host}:0`, folder], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const printed = await Promise.race([
    once(child.stdout, "data").then(([chunk]) => String(chunk).trim()),
    ended.then(([code]) => Promise.reject(new Error(`The registry ended with ${String(code)}.`))),
  ]);
  return {
    address: printed,
    async stop() {
      child.stdin.end();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
