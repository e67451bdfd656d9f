// Every image that the lab's nodes need besides the operator's, as archives.
import * as path from "node:path";
import { ensureBuilt } from "../build/cache.ts";
import { etcdVersions } from "../build/etcd.ts";
import { pauseRecipe, probeRecipe } from "../build/tools.ts";
import { step } from "../progress.ts";
import { ensureArchive, type Image, type ImageArchive } from "./archive.ts";
import { busyboxImage } from "./busybox.ts";
import { etcdImage } from "./etcd.ts";
import { basics, program, searchPath } from "./programs.ts";

const probeImageTag = "lab.local/probe:1";

async function pauseImage(): Promise<Image> {
  const pause = path.join(await ensureBuilt(await pauseRecipe()), "pause");
  return {
    tags: ["registry.k8s.io/pause:3.10"],
    config: { Env: [searchPath], Entrypoint: ["/pause"], User: "65535:65535" },
    layers: [[program("/pause", pause)]],
  };
}

async function probeImage(): Promise<Image> {
  const probe = path.join(await ensureBuilt(await probeRecipe()), "probe");
  return {
    tags: [probeImageTag],
    config: { Env: [searchPath], Entrypoint: ["/usr/local/bin/probe"], Cmd: ["serve"] },
    layers: [[...basics, program("/usr/local/bin/probe", probe)]],
  };
}

export async function ensureImages(): Promise<ImageArchive[]> {
  const images = [await pauseImage(), await busyboxImage(), await probeImage()];
  for (const version of etcdVersions) images.push(await etcdImage(version));
  return step("image archives", async (progress) => {
    const archives: ImageArchive[] = [];
    for (const image of images) {
      progress.detail(image.tags[0] ?? "");
      archives.push(await ensureArchive(image));
    }
    return archives;
  });
}
