// The kubectl plugin of a release: an archive for each system, by which people and krew install it, and the manifest for krew's index.
import { copyFile, mkdtemp, rename, rm } from "node:fs/promises";
import * as path from "node:path";
import { buildPlugin } from "../../lab/plugin/build.ts";
import { packagedNode } from "../../lab/plugin/node-package.ts";
import { writeTarGz } from "../archive.ts";
import type { Part } from "../part.ts";
import { downloads, project } from "../project.ts";

export const krewManifestFile = "krew-etcd.yaml";

export const kubectlPlugin: Part = {
  name: "kubectl plugin",
  async make({ folder, version, time }) {
    // Beside the release, so that a file is renamed into it and is never there in part.
    const work = await mkdtemp(path.join(path.dirname(folder), "plugin-"));
    try {
      const where = {
        uri: `${downloads(version)}/{file}`,
        ...(project.repository !== undefined && { homepage: project.repository }),
      };
      // As npm has Node and as one gzip compresses: a machine's own strip or zlib would show.
      const means = {
        node: packagedNode,
        archive: (file: string, entries: Parameters<typeof writeTarGz>[1]) => writeTarGz(file, entries, time),
      };
      const { archives, manifest } = await buildPlugin(work, where, means);
      for (const { file } of archives) await rename(path.join(path.dirname(manifest), file), path.join(folder, file));
      await copyFile(manifest, path.join(folder, krewManifestFile));
      return [...archives.map(({ file }) => file), krewManifestFile];
    } finally {
      await rm(work, { recursive: true });
    }
  },
};
