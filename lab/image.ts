// `make image`: builds the operator image as an archive, and loads it into every node of a running lab.
import * as path from "node:path";
import { labNodes, type LabConfig } from "./config.ts";
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

/** For a Kubernetes of one's own. */
const loads = ["kind load image-archive", "minikube image load", "docker load --input"];

export async function main(lab: LabConfig): Promise<void> {
  if (await isUp(lab)) {
    const { file } = await loadOperatorImage(lab);
    say(`${operatorImageTag} is on every node, and in ${nearby(file)}.`);
    return;
  }
  const { file } = await buildOperatorImage();
  say(`${operatorImageTag} is in ${nearby(file)}. The lab "${lab.name}" is not up; to load it elsewhere:`);
  for (const command of loads) say(`  ${command} ${nearby(file)}`);
}

const nearby = (file: string): string => path.relative(process.cwd(), file);
