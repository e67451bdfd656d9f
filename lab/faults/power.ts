// Cuts the power of a node: it stops at once, is disconnected, and comes back with its disk. Unflushed writes survive,
// because the machine's kernel keeps running: this fault does not test fsync.
import { type LabConfig, labNode } from "../config.ts";
import { busyMs } from "../control-plane/readiness.ts";
import { powerOff as cutPower, powerOn as restorePower } from "../nodes/node.ts";
import { reviveHolders } from "./delay.ts";
import { nodeNamed, plugCable, pullCable } from "./network.ts";
import { type Effect, inject } from "./record.ts";

type PowerOff = Extract<Effect, { kind: "power-off" }>;

export async function powerOff(lab: LabConfig, name: string): Promise<void> {
  const node = nodeNamed(lab, name);
  const effect: PowerOff = { kind: "power-off", node: node.index };
  await inject(
    lab,
    `power-off ${name}`,
    effect,
    async () => {
      // The cable first: a machine without power does not close its connections.
      await pullCable(node);
      await cutPower(lab, node);
    },
    () => switchOn(lab, effect),
  );
}

/** Returns when its agents are started; Kubernetes takes some seconds more to report the node Ready. */
export async function switchOn(lab: LabConfig, effect: PowerOff): Promise<void> {
  const node = labNode(lab, effect.node);
  // A power-off that failed half-way may have left old agents.
  await cutPower(lab, node);
  await plugCable(lab, node, "power-off");
  await restorePower(lab, node, AbortSignal.timeout(busyMs));
  await reviveHolders(lab, node);
}
