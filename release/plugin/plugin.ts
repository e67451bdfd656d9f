// The kubectl plugin of a release: executables for Linux, archives for Linux and macOS, and the manifest that krew's index takes.
import { copyFile, mkdtemp, rename, rm } from "node:fs/promises";
import * as path from "node:path";
import { buildPlugin } from "../../lab/plugin/build.ts";
import type { Part } from "../part.ts";
import { downloads, project } from "../project.ts";

export const kubectlPlugin: Part = {
  name: "kubectl plugin",
  async make({ folder, version }) {
    // Beside the release, so that a file is renamed into it and is never there in part.
    const work = await mkdtemp(path.join(path.dirname(folder), "plugin-"));
    try {
      const built = await buildPlugin(work, {
        uri: `${downloads(version)}/{file}`,
        ...(project.repository !== undefined && { homepage: project.repository }),
      });
      const krew = path.dirname(built.manifest);
      const files = [
        ...built.executables.map(({ file }) => file),
        ...built.archives.map(({ file }) => path.join(krew, file)),
      ];
      for (const file of files) await rename(file, path.join(folder, path.basename(file)));
      const manifest = "krew-etcd.yaml";
      await copyFile(built.manifest, path.join(folder, manifest));
      return [...files.map((file) => path.basename(file)), manifest];
    } finally {
      await rm(work, { recursive: true });
    }
  },
};
