// Fills a volume with a file, the ballast, and frees it by removing the file. Only volumes with a size limit are filled,
// to protect the machine's disk and memory.
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { CommandError, run } from "../machine/command.ts";
import { type LabConfig, type LabNode, UsageError, labNode } from "../config.ts";
import { onNode } from "../nodes/mounts.ts";
import { type RunningPod, findPod, parsePodName, podText } from "../nodes/pods.ts";
import { type Effect, inject } from "./record.ts";
import { type Volume, volumeNamed, volumesOf } from "./volumes.ts";

type FillDisk = Extract<Effect, { kind: "fill-disk" }>;

/** More than any volume of a lab has; a larger one is surely a mistake. */
const largestGap = 4 * 2 ** 30;

export async function fillDisk(lab: LabConfig, name: string, volume?: string): Promise<void> {
  const pod = await findPod(lab, parsePodName(name));
  const chosen = volumeNamed(pod, volumesOf(pod), volume);
  await refuseShared(lab, pod, chosen);
  const ballast = path.join(chosen.source, `.lab-ballast-${randomUUID()}`);
  const effect: FillDisk = { kind: "fill-disk", node: pod.node.index, ballast };
  await inject(
    lab,
    `fill-disk ${podText(pod)} ${chosen.name}`,
    effect,
    () => fill(pod.node, effect.ballast),
    () => removeBallast(lab, effect),
  );
}

async function refuseShared(lab: LabConfig, pod: RunningPod, volume: Volume): Promise<void> {
  const stat = (path: string): Promise<string> => on(pod.node, "stat", "--format=%d", path);
  if ((await stat(volume.source)) === (await stat(lab.state)))
    throw new UsageError(
      `Volume ${volume.name} of ${podText(pod)} is on the machine's own disk; give the pod a claim of the lab's storage class, or an emptyDir with medium Memory and a sizeLimit.`,
    );
  const free = Number((await on(pod.node, "df", "--block-size=1", "--output=avail", volume.source)).split("\n")[1]);
  if (free > largestGap)
    throw new UsageError(
      `Volume ${volume.name} of ${podText(pod)} has ${Math.round(free / 2 ** 30)} GiB free; the lab fills at most ${largestGap / 2 ** 30}. Give it a sizeLimit.`,
    );
}

const on = async (node: LabNode, ...command: string[]): Promise<string> => {
  const [enter = "", ...args] = [...onNode(node), ...command];
  return (await run(enter, args)).trim();
};

/** In big steps first, then in small ones, until no page fits. */
async function fill(node: LabNode, ballast: string): Promise<void> {
  for (const size of ["1M", "4k"]) {
    try {
      await on(node, "dd", "if=/dev/zero", `of=${ballast}`, `bs=${size}`, "oflag=append", "conv=notrunc,fsync");
    } catch (error) {
      // Expected: dd fails when the volume is full. The check below tells full from broken.
      if (!(error instanceof CommandError)) throw error;
    }
  }
  const free = Number((await on(node, "df", "--block-size=1", "--output=avail", ballast)).split("\n")[1]);
  if (!(free < 2 ** 20)) throw new Error(`${ballast} did not fill its volume: ${free} bytes are free`);
}

/**
 * Looks for the ballast in every volume on the node, because another pod may use the claim by now. If it is not there, its
 * volume is gone: an emptyDir goes with its pod, one in memory with the power of its node.
 */
export async function removeBallast(lab: LabConfig, effect: FillDisk): Promise<void> {
  const node = labNode(lab, effect.node);
  if (!fs.existsSync(node.mountns))
    throw new UsageError(`Node ${node.name} is off; its volumes can be freed when it is on.`);
  await on(node, "rm", "--force", effect.ballast);
  const pods = path.join(node.root, "kubelet", "pods");
  await on(node, "find", pods, "-maxdepth", "5", "-name", path.basename(effect.ballast), "-delete");
}
