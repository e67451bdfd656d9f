// Loads image archives into a node's containerd, unless it has the same content already.
import { run } from "../machine/command.ts";
import type { LabNode } from "../config.ts";
import type { ImageArchive } from "./archive.ts";

/** containerd computes its own digest of an imported archive, so a label keeps the archive's. */
const digestLabel = "etcd-operator.lab/digest";

export async function loadImages(
  node: Pick<LabNode, "containerdSocket">,
  archives: readonly ImageArchive[],
): Promise<void> {
  const images = (...args: string[]): Promise<string> =>
    run("ctr", ["--address", node.containerdSocket, "--namespace", "k8s.io", "images", ...args]);
  const present = loadedImages(await images("ls"));
  for (const { file, tags, digest } of archives) {
    if (tags.every((tag) => present.get(tag) === digest)) continue;
    await images("import", file);
    for (const tag of tags) await images("label", tag, `${digestLabel}=${digest}`);
  }
}

/** From the table that `ctr images ls` prints, name first and labels last: the digest that each image was loaded with. */
export function loadedImages(table: string): Map<string, string> {
  const loaded = new Map<string, string>();
  for (const line of table.split("\n")) {
    const columns = line.trim().split(/\s+/);
    const labels = columns.at(-1)?.split(",") ?? [];
    const digest = labels.find((label) => label.startsWith(`${digestLabel}=`))?.slice(digestLabel.length + 1);
    if (columns[0] !== undefined && digest !== undefined) loaded.set(columns[0], digest);
  }
  return loaded;
}
