// The image of an etcd that answers without end, on every node of the lab.
import * as path from "node:path";
import { labNodes, type LabConfig } from "../../../lab/config.ts";
import { ensureArchive } from "../../../lab/images/archive.ts";
import { bundle, tree } from "../../../lab/images/bundle.ts";
import { loadImages } from "../../../lab/images/load.ts";
import { nodeImage } from "../../../lab/images/node.ts";
import { forgetOthers } from "../../../lab/images/operator.ts";
import { program } from "../../../lab/images/programs.ts";
import { imagePrograms } from "../../../src/etcd/versions/features.ts";

/** In no registry. */
export const endlessImage = "registry.invalid/etcd:endless";

const folder = path.join(tree, "dist", "endless-etcd");

export async function loadEndlessImage(lab: LabConfig): Promise<void> {
  const bundled = await bundle("test/e2e/endless/program.ts", path.join(folder, "etcd.cjs"));
  const image = await nodeImage(endlessImage, "etcd", [program(imagePrograms.etcd, bundled)]);
  const archive = await ensureArchive(image, folder);
  await forgetOthers(archive.file);
  await Promise.all(labNodes(lab).map((node) => loadImages(node, [archive])));
}
