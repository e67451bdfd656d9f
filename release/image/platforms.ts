// What the image has for each architecture, layer by layer: lowest first, and what seldom changes low, since a node does not
// fetch a layer that it has.
import { commandPath } from "../../lab/images/node.ts";
import { bundledPrograms } from "../../lab/images/operator.ts";
import { basics, program } from "../../lab/images/programs.ts";
import type { Entry } from "../../lab/images/tar.ts";
import { type Architecture, packagedNode } from "../../lab/plugin/node-package.ts";
import { ensureEtcdutl } from "../programs/programs.ts";
import { libraryEntries } from "./libraries.ts";

export interface PlatformLayer {
  /** What is in it, for people. */
  readonly comment: string;
  readonly entries: readonly Entry[];
}

export async function platformLayers(architecture: Architecture): Promise<PlatformLayer[]> {
  const node = await packagedNode(architecture);
  return [
    { comment: "glibc and libstdc++ of Debian 12", entries: [...basics, ...(await libraryEntries(architecture))] },
    { comment: "Node, as its npm package has it", entries: [program(commandPath("node"), node.program)] },
    { comment: "etcdutl", entries: [program(commandPath("etcdutl"), await ensureEtcdutl(architecture))] },
    { comment: "etcd-operator and etcd-worker", entries: await bundledPrograms() },
  ];
}
