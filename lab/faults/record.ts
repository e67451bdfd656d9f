// The active faults: one file each in the lab's state folder, written before the fault is injected and removed after it is
// undone, so that later commands can list and undo them, even after a crash.
import * as fs from "node:fs";
import * as path from "node:path";
import { type LabConfig, UsageError } from "../config.ts";

/** A packet filter rule inside a node's network. */
export interface Rule {
  readonly netns: string;
  readonly chain: "FORWARD" | "PREROUTING" | "POSTROUTING";
  readonly match: readonly string[];
  readonly target: readonly string[];
}

/** The program that delays the packets of one queue on one node. */
export interface Holder {
  readonly component: string;
  readonly netns: string;
  readonly queue: number;
  readonly milliseconds: number;
}

export interface Throttle {
  readonly file: string;
  readonly set: string;
  readonly clear: string;
}

export type Effect =
  | { readonly kind: "pause-container"; readonly cgroup: string }
  | { readonly kind: "power-off"; readonly node: number }
  | { readonly kind: "cut-node"; readonly node: number }
  | { readonly kind: "drop"; readonly rules: readonly Rule[] }
  | { readonly kind: "delay"; readonly rules: readonly Rule[]; readonly holders: readonly Holder[] }
  | { readonly kind: "stop"; readonly component: ControlPlanePart }
  | { readonly kind: "freeze"; readonly component: ControlPlanePart }
  | { readonly kind: "cache-dns" }
  | { readonly kind: "fill-disk"; readonly node: number; readonly ballast: string }
  | { readonly kind: "slow-disk"; readonly throttles: readonly Throttle[] };

export type ControlPlanePart = "apiserver" | "coredns";

/** The id is the command without its numbers: `delay default/a default/b`. */
export interface Fault {
  readonly id: string;
  readonly since: string;
  readonly effect: Effect;
}

const folder = (lab: LabConfig): string => path.join(lab.state, "faults");
const fileOf = (lab: LabConfig, id: string): string => path.join(folder(lab), `${encodeURIComponent(id)}.json`);

export function faultsInForce(lab: LabConfig): Fault[] {
  let names: string[];
  try {
    names = fs.readdirSync(folder(lab));
  } catch {
    return []; // there was never a fault in this lab
  }
  return names
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(fs.readFileSync(path.join(folder(lab), name), "utf8")) as Fault)
    .sort((a, b) => a.since.localeCompare(b.since));
}

const faultInForce = (lab: LabConfig, id: string): Fault | undefined =>
  faultsInForce(lab).find((fault) => fault.id === id);

export function forgetFault(lab: LabConfig, id: string): void {
  fs.rmSync(fileOf(lab, id), { force: true });
}

/** Records the fault, then injects it. If that fails, undoes what was done and removes the record. */
export async function inject<H extends Effect>(
  lab: LabConfig,
  id: string,
  effect: H,
  act: (effect: H) => Promise<void>,
  undo: (effect: H) => Promise<void>,
): Promise<void> {
  const fault: Fault = { id, since: new Date().toISOString(), effect };
  if (faultInForce(lab, id) !== undefined)
    throw new UsageError(`"${id}" is active already; undo it first, or see \`fault list\`.`);
  fs.mkdirSync(folder(lab), { recursive: true });
  // Renamed into place: a reader must never find half a record.
  const draft = `${fileOf(lab, id)}.${process.pid}`;
  fs.writeFileSync(draft, JSON.stringify(fault));
  fs.renameSync(draft, fileOf(lab, id));
  try {
    await act(effect);
  } catch (error) {
    await undo(effect);
    forgetFault(lab, id);
    throw error;
  }
}
