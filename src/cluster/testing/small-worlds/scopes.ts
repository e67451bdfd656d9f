// Which small worlds are searched: how many members, with volumes or without, how many faults, and which one change.
import type { Edit } from "./nature.ts";
import { type Found, search } from "./search.ts";
import { emptyWorld } from "./state.ts";
import type { Log } from "./view.ts";

export interface Begin {
  readonly size: number;
  readonly volumes?: true;
  readonly faults: number;
  /** At most one of them. */
  readonly edits?: readonly Edit[];
  /** Default: the log has its beginning still, so that new members start together. */
  readonly log?: Log;
  /** Whether it is one of the few that are searched at each run of the unit tests. */
  readonly always?: true;
}

const sizes = (...to: readonly number[]): readonly Edit[] => to.map((size) => ({ t: "size", to: size }));
const version: Edit = { t: "version" };
const setting: Edit = { t: "setting" };
const volumes: Edit = { t: "volumes" };
const pause: Edit = { t: "pause" };
const anything = [...sizes(3), version, setting, volumes, pause];

/** Each begins with nothing but an EtcdCluster, and so goes through its creation. */
export const begins: readonly Begin[] = [
  { size: 1, faults: 2, always: true },
  { size: 1, faults: 2, volumes: true, always: true },
  { size: 1, faults: 1, edits: anything, always: true },
  { size: 1, faults: 1, edits: anything.filter((edit) => edit !== volumes), volumes: true, always: true },
  { size: 3, faults: 1, always: true },
  { size: 3, faults: 1, log: "long", volumes: true, always: true },
  { size: 3, faults: 1, log: "long", edits: sizes(1, 2), always: true },
  { size: 3, faults: 0, edits: [...sizes(1, 2), version, setting, volumes, pause], always: true },
  { size: 3, faults: 0, edits: [...sizes(1, 2), version, setting, pause], volumes: true, always: true },
  { size: 1, faults: 2, edits: anything },
  { size: 1, faults: 2, edits: anything.filter((edit) => edit !== volumes), volumes: true },
  { size: 3, faults: 2, log: "long", always: true },
  { size: 3, faults: 2 },
  { size: 3, faults: 2, log: "long", volumes: true },
  { size: 3, faults: 1, log: "long", edits: [version, setting, volumes, pause] },
  { size: 3, faults: 1, log: "long", edits: [...sizes(1), version, setting, pause], volumes: true },
];

export function inWords({ size, volumes: has, faults, edits = [], log = "short" }: Begin): string {
  const asked = edits.map((edit) => (edit.t === "size" ? `size ${edit.to}` : edit.t));
  const words = [
    `of ${size}`,
    has === true ? "with volumes" : "",
    log === "long" && size > 1 ? "joining one by one" : "",
    `${faults} ${faults === 1 ? "fault" : "faults"}`,
    asked.length === 0 ? "no change" : `one change (${asked.join(", ")})`,
  ];
  return words.filter((word) => word !== "").join(", ");
}

export function searchFrom({ size, volumes: has, faults, edits = [], log = "short" }: Begin): Found {
  const first = emptyWorld({ size, volumes: has === true }, faults, edits.length === 0 ? 0 : 1);
  return search(first, { edits, deafness: true, deaths: true, log });
}
