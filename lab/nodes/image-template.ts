// Unpacking all images on every node would dominate the start of a lab. So one containerd unpacks them once into a folder
// in the cache, and each node starts with a copy of hard links.
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { ensureBuilt } from "../build/cache.ts";
import { run, tryRun } from "../machine/command.ts";
import { type LabNode, labConfig, labNode } from "../config.ts";
import { type ImageArchive } from "../images/archive.ts";
import { loadImages } from "../images/load.ts";
import { busyMs } from "../control-plane/readiness.ts";
import { containerdRoot } from "./node-settings.ts";
import { waitFor } from "../progress.ts";

/** containerd writes to these; it only reads all other files in its folder. */
const databases = ["io.containerd.metadata.v1.bolt/meta.db", "io.containerd.snapshotter.v1.overlayfs/metadata.db"];

export async function ensureImageTemplate(archives: readonly ImageArchive[]): Promise<string> {
  const ingredients = archives.flatMap(({ digest, tags }) => [digest, ...tags]);
  const containerd = (await run("containerd", ["--version"])).trim();
  return ensureBuilt({
    name: "images",
    version: String(archives.length),
    ingredients: [containerd, ...ingredients],
    build: (folder) => fill(folder, archives),
  });
}

async function fill(folder: string, archives: readonly ImageArchive[]): Promise<void> {
  const work = `${folder}.work`;
  const node = { ...labNode(labConfig(), 0), containerdSocket: path.join(work, "containerd.sock") };
  fs.mkdirSync(work, { recursive: true });
  const settings = path.join(work, "containerd.toml");
  fs.writeFileSync(
    settings,
    `version = 2
root = "${folder}"
state = "${path.join(work, "state")}"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "${node.containerdSocket}"
`,
  );
  // In its own mount namespace, and killed with this process, so that an interruption leaves nothing.
  const alone = ["--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private"];
  const containerd = spawn("setpriv", [...alone, "containerd", "--config", settings], { stdio: "ignore" });
  const ended = once(containerd, "exit");
  try {
    await waitFor("containerd for the images", async () => tryRun("ctr", ["-a", node.containerdSocket, "version"]), {
      timeoutMs: busyMs,
    });
    await loadImages(node, archives);
  } finally {
    containerd.kill("SIGTERM");
    await ended;
    fs.rmSync(work, { recursive: true, force: true });
  }
}

export async function cloneImages(template: string, node: LabNode): Promise<void> {
  const target = containerdRoot(node);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  const linked = await tryRun("cp", ["--archive", "--link", template, target]);
  if (linked === undefined) {
    // Another file system: copy the contents.
    fs.rmSync(target, { recursive: true, force: true });
    await run("cp", ["--archive", "--reflink=auto", template, target]);
  }
  for (const database of databases) {
    const file = path.join(target, database);
    fs.rmSync(file);
    fs.copyFileSync(path.join(template, database), file);
  }
}
