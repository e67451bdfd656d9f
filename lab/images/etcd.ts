// etcd's images under both names of upstream: the programs and nothing else, as upstream ships them now.
import * as path from "node:path";
import { ensureBuilt, exists } from "../build/cache.ts";
import { type EtcdVersion, etcdRecipe } from "../build/etcd.ts";
import type { Image } from "./archive.ts";
import { shell } from "./busybox.ts";
import { basics, librariesOf, program, searchPath } from "./programs.ts";
import type { Entry } from "./tar.ts";

const repositories = ["quay.io/coreos/etcd", "gcr.io/etcd-development/etcd"] as const;

export async function etcdImage(version: EtcdVersion): Promise<Image> {
  const folder = await ensureBuilt(await etcdRecipe(version));
  const programs: string[] = [];
  for (const name of ["etcd", "etcdctl", "etcdutl"])
    if (await exists(path.join(folder, name))) programs.push(path.join(folder, name));
  return {
    tags: repositories.map((repository) => `${repository}:v${version}`),
    config: {
      Env: [searchPath],
      Cmd: ["/usr/local/bin/etcd"],
      WorkingDir: "/var/lib/etcd/",
      ExposedPorts: { "2379/tcp": {}, "2380/tcp": {} },
    },
    layers: [
      [
        ...basics,
        { is: "folder", path: "var/etcd", mode: 0o755 },
        { is: "folder", path: "var/lib/etcd", mode: 0o755 },
        ...programs.map((file) => program(`/usr/local/bin/${path.basename(file)}`, file)),
        ...(await librariesOf(programs)),
        ...(await shellOf(version)),
      ],
    ],
  };
}

/**
 * Up to 3.3 upstream's images are based on Alpine and have a shell, which the probes of etcd-operator 0.9 use. Later images
 * of the lab have none, so that nothing of ours depends on one.
 */
async function shellOf(version: EtcdVersion): Promise<Entry[]> {
  return version === "3.2.13" || version === "3.3.27" ? shell(["sh", "ls", "cat", "sleep"]) : [];
}
