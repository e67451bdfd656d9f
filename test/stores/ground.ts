// What the suites of stores stand on: a temporary folder, mounted Secrets as files in it, servers that end with the test.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { bundle, nodeFlag, tree } from "../../lab/images/bundle.ts";
import { run } from "../../lab/machine/command.ts";
import { freePort, type Place } from "../../lab/stores/server.ts";
import type { S3Keys } from "../../lab/stores/versitygw.ts";
import type { StoreTarget } from "../../src/store/store.ts";

export class Ground implements AsyncDisposable {
  readonly folder: string;
  readonly #ends: (() => Promise<unknown>)[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<Ground> {
    return new Ground(await mkdtemp(path.join(tmpdir(), "stores-")));
  }

  async place(name: string): Promise<Place> {
    return { host: "127.0.0.1", port: await freePort(), folder: path.join(this.folder, name) };
  }

  /** A Secret as a kubelet mounts it. */
  async secret(name: string, entries: Readonly<Record<string, string>>): Promise<string> {
    const folder = path.join(this.folder, "secrets", name);
    await mkdir(folder, { recursive: true });
    for (const [key, text] of Object.entries(entries)) await writeFile(path.join(folder, key), text);
    return folder;
  }

  awsSecret(name: string, keys: S3Keys): Promise<string> {
    return this.secret(name, {
      credentials: `[default]\naws_access_key_id = ${keys.accessKeyId}\naws_secret_access_key = ${keys.secretAccessKey}\n`,
      config: "[default]\nregion = us-east-1\n",
    });
  }

  /** Ends with the ground, in reverse order. */
  keep<T extends AsyncDisposable | { close(): void }>(thing: T): T {
    this.#ends.push(async () => {
      if (Symbol.asyncDispose in thing) await thing[Symbol.asyncDispose]();
      else thing.close();
    });
    return thing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
    await rm(this.folder, { recursive: true, force: true });
  }
}

interface Order {
  readonly target: StoreTarget;
  readonly key: string;
  readonly bytes: number;
}

const uploader = path.join(import.meta.dirname, "uploader.ts");

/** Uploads in a process of its own, to the end: by the bundle, as the image runs it. Gives back its peak of memory. */
export async function uploadBundled(ground: Ground, order: Order): Promise<number> {
  const program = await bundle(path.relative(tree, uploader), path.join(ground.folder, "uploader.cjs"));
  const { line } = await uploaderLine([nodeFlag, program], { ...order, end: "whole" });
  return (JSON.parse(line) as { peak: number }).peak;
}

/** Uploads in a process of its own that is killed when this much was produced, and one part at least is in the store. */
export async function crashIn(order: Order): Promise<void> {
  const { child, line } = await uploaderLine([uploader], { ...order, end: "hang" });
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
  if (!line.includes("produced")) throw new Error(`the uploader said ${line}`);
}

async function uploaderLine(
  program: readonly string[],
  order: object,
): Promise<{ child: ReturnType<typeof spawn>; line: string }> {
  const args = ["--pdeathsig", "KILL", "--", process.execPath, ...program, JSON.stringify(order)];
  const child = spawn("setpriv", args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, "line").then(([text]) => String(text)),
    // Its last line may be read after it has exited, and never after its output has ended.
    once(child, "close").then(([code]) => {
      throw new Error(`the uploader exited with ${String(code)}`);
    }),
  ]);
  return { child, line };
}

/** In versitygw a bucket is a folder, and files in it are objects whoever made them. */
export async function fillBucket(bucket: string, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await mkdir(path.dirname(path.join(bucket, key)), { recursive: true });
    await writeFile(path.join(bucket, key), "x");
  }
}

/** A file system in memory of this size, for a store that gets full. */
export async function smallDisk(ground: Ground, name: string, mebibytes: number): Promise<string> {
  const folder = path.join(ground.folder, name);
  await mkdir(folder);
  await run("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder]);
  ground.keep({ [Symbol.asyncDispose]: async () => void (await run("umount", ["--lazy", folder])) });
  return folder;
}
