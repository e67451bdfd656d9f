// Power: a node that loses it stops at once, with its cable, and comes back with its disk. What was written and not
// yet flushed survives all the same, because the kernel underneath goes on: this fault does not test fsync.
import { type LabConfig, labNode } from "../config.ts";
import { powerOff as cutPower, powerOn as restorePower } from "../node.ts";
import { reviveHolders } from "./delay.ts";
import { nodeNamed, plugCable, pullCable } from "./network.ts";
import { type Harm, inflict } from "./record.ts";

type PowerOff = Extract<Harm, { kind: "power-off" }>;

export async function powerOff(lab: LabConfig, name: string): Promise<void> {
  const node = nodeNamed(lab, name);
  const harm: PowerOff = { kind: "power-off", node: node.index };
  await inflict(
    lab,
    `power-off ${name}`,
    harm,
    async () => {
      // The cable first: a machine without power says no goodbye to those that it was connected with.
      await pullCable(node);
      await cutPower(lab, node);
    },
    () => switchOn(lab, harm),
  );
}

/** Until its agents are started; Kubernetes takes some seconds more to believe it. */
export async function switchOn(lab: LabConfig, harm: PowerOff): Promise<void> {
  const node = labNode(lab, harm.node);
  // What is left of a power-off that failed half-way must not meet the new agents.
  await cutPower(lab, node);
  await plugCable(lab, node, "power-off");
  await restorePower(lab, node, AbortSignal.timeout(60_000));
  await reviveHolders(lab, node);
}
