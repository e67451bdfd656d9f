// `make image`: builds the operator image and loads it into every node of a running lab.
import { labNodes, type LabConfig, UsageError } from "./config.ts";
import type { ImageArchive } from "./images/archive.ts";
import { loadImages } from "./images/load.ts";
import { buildOperatorImage, operatorImageTag } from "./images/operator.ts";
import { say, step } from "./progress.ts";
import { isUp } from "./up.ts";

/** Builds the image and loads it into the lab's nodes. */
export async function loadOperatorImage(lab: LabConfig): Promise<ImageArchive> {
  const archive = await buildOperatorImage();
  await step(`load ${operatorImageTag} into ${lab.nodes} nodes`, async () => {
    await Promise.all(labNodes(lab).map((node) => loadImages(node, [archive])));
  });
  return archive;
}

export async function main(lab: LabConfig): Promise<void> {
  if (!(await isUp(lab))) {
    const archive = await buildOperatorImage();
    throw new UsageError(
      `${archive.file} is built, but the lab "${lab.name}" is not up to load it into: run make lab.`,
    );
  }
  await loadOperatorImage(lab);
  say(`${operatorImageTag} is on every node.`);
}
