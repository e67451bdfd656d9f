// The faults in force: one file each in the lab's state folder, written before the harm is done and removed after it
// is undone, so that any later command can list them and undo them, even after a crash in between.
import * as fs from "node:fs";
import * as path from "node:path";
import { type LabConfig, UsageError } from "../config.ts";

/** A packet filter rule inside a node's network: what is dropped or held there. */
export interface Rule {
  readonly netns: string;
  readonly chain: "FORWARD" | "PREROUTING" | "POSTROUTING";
  readonly match: readonly string[];
  readonly target: readonly string[];
}

/** Holds the packets of one queue of one node, inside that node's network. */
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

export type Harm =
  | { readonly kind: "pause-container"; readonly cgroup: string }
  | { readonly kind: "power-off"; readonly node: number }
  | { readonly kind: "cut-node"; readonly node: number }
  | { readonly kind: "drop"; readonly rules: readonly Rule[] }
  | { readonly kind: "delay"; readonly rules: readonly Rule[]; readonly holders: readonly Holder[] }
  | { readonly kind: "stop"; readonly component: ControlPlanePart }
  | { readonly kind: "freeze"; readonly component: ControlPlanePart }
  | { readonly kind: "fill-disk"; readonly node: number; readonly ballast: string }
  | { readonly kind: "slow-disk"; readonly throttles: readonly Throttle[] };

export type ControlPlanePart = "apiserver" | "coredns";

/** The id is the command that caused it, without its measures: `delay default/a default/b`. */
export interface Fault {
  readonly id: string;
  readonly since: string;
  readonly harm: Harm;
}

const folder = (lab: LabConfig): string => path.join(lab.state, "faults");
const fileOf = (lab: LabConfig, id: string): string => path.join(folder(lab), `${encodeURIComponent(id)}.json`);

export function faultsInForce(lab: LabConfig): Fault[] {
  let names: string[];
  try {
    names = fs.readdirSync(folder(lab));
  } catch {
    return []; // no fault was ever caused here
  }
  return names
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(fs.readFileSync(path.join(folder(lab), name), "utf8")) as Fault)
    .sort((a, b) => a.since.localeCompare(b.since));
}

export const faultInForce = (lab: LabConfig, id: string): Fault | undefined =>
  faultsInForce(lab).find((fault) => fault.id === id);

export function forgetFault(lab: LabConfig, id: string): void {
  fs.rmSync(fileOf(lab, id), { force: true });
}

/** Records the fault, then does the harm; when that fails, what was done of it is undone and nothing stays recorded. */
export async function inflict<H extends Harm>(
  lab: LabConfig,
  id: string,
  harm: H,
  act: (harm: H) => Promise<void>,
  undo: (harm: H) => Promise<void>,
): Promise<void> {
  const fault: Fault = { id, since: new Date().toISOString(), harm };
  if (faultInForce(lab, id) !== undefined)
    throw new UsageError(`"${id}" is in force already; undo it first, or see \`fault list\`.`);
  fs.mkdirSync(folder(lab), { recursive: true });
  // Complete or absent: a reader must never find half a record.
  const draft = `${fileOf(lab, id)}.${process.pid}`;
  fs.writeFileSync(draft, JSON.stringify(fault));
  fs.renameSync(draft, fileOf(lab, id));
  try {
    await act(harm);
  } catch (error) {
    await undo(harm);
    forgetFault(lab, id);
    throw error;
  }
}
