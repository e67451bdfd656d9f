// Undoes faults: one by its own command, or all active ones.
import { type LabConfig, UsageError } from "../config.ts";
import { resume } from "./containers.ts";
import { startAgain, thaw, uncacheDns } from "./control-plane.ts";
import { endDelay } from "./delay.ts";
import { removeBallast } from "./disk.ts";
import { joinCable, restore } from "./network.ts";
import { switchOn } from "./power.ts";
import { type Fault, type Effect, faultsInForce, forgetFault } from "./record.ts";
import { speedUp } from "./throttle.ts";

export const resumeContainer = (lab: LabConfig, pod: string, ...container: string[]): Promise<void> =>
  end(lab, "pause-container", pod, ...container);
export const powerOn = (lab: LabConfig, node: string): Promise<void> => end(lab, "power-off", node);
export const joinNode = (lab: LabConfig, node: string): Promise<void> => end(lab, "cut-node", node);
export const joinPods = (lab: LabConfig, a: string, b: string): Promise<void> => end(lab, "cut-pods", a, b);
export const noLoss = (lab: LabConfig, ...link: string[]): Promise<void> => end(lab, "loss", ...link);
export const noDelay = (lab: LabConfig, ...link: string[]): Promise<void> => end(lab, "delay", ...link);
export const startApi = (lab: LabConfig): Promise<void> => end(lab, "stop-api");
export const thawApi = (lab: LabConfig): Promise<void> => end(lab, "freeze-api");
export const startDns = (lab: LabConfig): Promise<void> => end(lab, "stop-dns");
export const thawDns = (lab: LabConfig): Promise<void> => end(lab, "freeze-dns");
export const noCacheDns = (lab: LabConfig): Promise<void> => end(lab, "cache-dns");
export const freeDisk = (lab: LabConfig, pod: string, ...volume: string[]): Promise<void> =>
  end(lab, "fill-disk", pod, ...volume);
export const fastDisk = (lab: LabConfig, pod: string): Promise<void> => end(lab, "slow-disk", pod);

/** Ends the faults of the command with all these arguments: `cut-pods` with one pod ends all cuts of that pod. */
export async function end(lab: LabConfig, command: string, ...words: readonly string[]): Promise<void> {
  const meant = faultsInForce(lab).filter(({ id }) => {
    const [first, ...rest] = id.split(" ");
    return first === command && words.every((word) => rest.includes(word));
  });
  if (meant.length === 0)
    throw new UsageError(`"${[command, ...words].join(" ")}" is not active in the lab "${lab.name}".`);
  for (const fault of meant) await endOne(lab, fault);
}

/** The API server first, and power before what is on the node. A fault that cannot be undone does not stop the others. */
const order: readonly Effect["kind"][] = ["freeze", "stop", "cut-node", "power-off"];

export async function heal(lab: LabConfig): Promise<Fault[]> {
  const rank = ({ effect }: Fault): number => (order.includes(effect.kind) ? order.indexOf(effect.kind) : order.length);
  const healed: Fault[] = [];
  const failed: Error[] = [];
  for (const fault of faultsInForce(lab).sort((a, b) => rank(a) - rank(b))) {
    try {
      await endOne(lab, fault);
      healed.push(fault);
    } catch (error) {
      failed.push(
        new Error(`${fault.id}: ${error instanceof Error ? error.message : String(error)}`, { cause: error }),
      );
    }
  }
  if (failed.length > 0) throw new AggregateError(failed, failed.map((error) => error.message).join("\n"));
  return healed;
}

async function endOne(lab: LabConfig, fault: Fault): Promise<void> {
  await undo(lab, fault.effect);
  forgetFault(lab, fault.id);
}

async function undo(lab: LabConfig, effect: Effect): Promise<void> {
  switch (effect.kind) {
    case "pause-container":
      await resume(effect);
      break;
    case "power-off":
      await switchOn(lab, effect);
      break;
    case "cut-node":
      await joinCable(lab, effect);
      break;
    case "drop":
      await restore(effect);
      break;
    case "delay":
      await endDelay(lab, effect);
      break;
    case "stop":
      await startAgain(lab, effect);
      break;
    case "freeze":
      await thaw(lab, effect);
      break;
    case "cache-dns":
      await uncacheDns(lab);
      break;
    case "fill-disk":
      await removeBallast(lab, effect);
      break;
    case "slow-disk":
      await speedUp(effect);
      break;
  }
}
