// A volume without room: filled to the last byte by a file that freeing it removes. Only volumes of a size of their
// own are filled, so that the machine's disk and memory stay out of it.
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { CommandError, run } from "../command.ts";
import { type LabConfig, type LabNode, UsageError, labNode } from "../config.ts";
import { onNode } from "../mounts.ts";
import { type RunningPod, findPod, parsePodName, podText } from "../pods.ts";
import { type Harm, inflict } from "./record.ts";
import { type Volume, volumeNamed, volumesOf } from "./volumes.ts";

type FillDisk = Extract<Harm, { kind: "fill-disk" }>;

/** More than any volume of a lab has; a bigger one is surely not meant. */
const largestGap = 4 * 2 ** 30;

export async function fillDisk(lab: LabConfig, name: string, volume?: string): Promise<void> {
  const pod = await findPod(lab, parsePodName(name));
  const chosen = volumeNamed(pod, volumesOf(pod), volume);
  await refuseShared(lab, pod, chosen);
  const ballast = path.join(chosen.source, `.lab-ballast-${randomUUID()}`);
  const harm: FillDisk = { kind: "fill-disk", node: pod.node.index, ballast };
  await inflict(
    lab,
    `fill-disk ${podText(pod)} ${chosen.name}`,
    harm,
    () => fill(pod.node, harm.ballast),
    () => removeBallast(lab, harm),
  );
}

async function refuseShared(lab: LabConfig, pod: RunningPod, volume: Volume): Promise<void> {
  const stat = (path: string): Promise<string> => on(pod.node, "stat", "--format=%d", path);
  if ((await stat(volume.source)) === (await stat(lab.state)))
    throw new UsageError(
      `Volume ${volume.name} of ${podText(pod)} lies on the machine's own disk; give the pod a claim of the lab's storage class, or an emptyDir with medium Memory and a sizeLimit.`,
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

/** In big steps first, then in small ones, until not even a page finds room. */
async function fill(node: LabNode, ballast: string): Promise<void> {
  for (const size of ["1M", "4k"]) {
    try {
      await on(node, "dd", "if=/dev/zero", `of=${ballast}`, `bs=${size}`, "oflag=append", "conv=notrunc,fsync");
    } catch (error) {
      // The expected end: dd stops when the volume is full. Whether it is full, and not broken, is asked below.
      if (!(error instanceof CommandError)) throw error;
    }
  }
  const free = Number((await on(node, "df", "--block-size=1", "--output=avail", ballast)).split("\n")[1]);
  if (!(free < 2 ** 20)) throw new Error(`${ballast} could not be made to fill its volume: ${free} bytes are free`);
}

/**
 * Looks for the ballast in every volume that is mounted on the node, because a claim may by now be another pod's.
 * Not found means gone with its volume: an emptyDir dies with its pod, one in memory with its node's power.
 */
export async function removeBallast(lab: LabConfig, harm: FillDisk): Promise<void> {
  const node = labNode(lab, harm.node);
  if (!fs.existsSync(node.mountns))
    throw new UsageError(`Node ${node.name} is off; its volumes can be freed when it is on.`);
  await on(node, "rm", "--force", harm.ballast);
  const pods = path.join(node.root, "kubelet", "pods");
  await on(node, "find", pods, "-maxdepth", "5", "-name", path.basename(harm.ballast), "-delete");
}
