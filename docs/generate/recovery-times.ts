// docs/recovery-times.md: the figures of docs/benchmarks.md that somebody waits for, so that both pages say the same.
import { readFileSync } from "node:fs";
import * as path from "node:path";

const benchmarks = path.resolve(import.meta.dirname, "../benchmarks.md");

interface Figure {
  readonly ours: string;
  readonly floor: string;
  readonly ratio: string;
}

/** By the name of the row. */
export function figuresIn(page: string): ReadonlyMap<string, Figure> {
  const rows = [...page.matchAll(/^\| (.+) \|$/gm)].map(([, row = ""]) => row.split(" | ").map((cell) => cell.trim()));
  return new Map(
    rows.flatMap(([name = "", unit = "", , p50 = "", , , floor = "", , ratio = ""]) =>
      unit === "s" || unit === "ms" ? [[name, { ours: time(p50, unit), floor: time(floor, unit), ratio }]] : [],
    ),
  );
}

/** In seconds, as exact as a few samples are. */
function time(figure: string, unit: "s" | "ms"): string {
  const seconds = Number(figure) / (unit === "s" ? 1 : 1000);
  const digits = seconds >= 10 ? 0 : seconds >= 0.5 ? 1 : 2;
  return `${seconds.toFixed(digits)} s`;
}

export function recoveryTimesPage(): string {
  const figures = figuresIn(readFileSync(benchmarks, "utf8"));
  const figure = (name: string): Figure => {
    const found = figures.get(name);
    if (found === undefined)
      throw new Error(`docs/benchmarks.md has no row "${name}", which docs/recovery-times.md is made from.`);
    return found;
  };
  const row = (what: string, until: string, name: string, floorIs: string): string => {
    const { ours, floor, ratio } = figure(name);
    return `| ${what} | ${until} | ${ours} | ${floor}: ${floorIs} | ${ratio} |`;
  };
  const gap = (what: string, name: string, note = ""): string => `| ${what} | ${figure(name).ours}${note} |`;
  const again = "one plain pod recreated";
  return `# Recovery times

<!-- Made by \`node docs/generate.ts\` from the figures in docs/benchmarks.md. Change docs/generate/recovery-times.ts, not this file. -->

This page says how long recovery takes. All figures are medians from [benchmarks.md](benchmarks.md), which says how and when each was
measured and has the largest samples: in the [lab](lab.md), three nodes on **one machine with two processors** that did other work as
well. Each was measured beside a floor in the same run: the same thing done with plain pods, without an operator. The ratio applies to
other machines, too; the seconds do not. \`make bench\` measures on yours.

## Members
| what happens | until | time | floor | ratio |
|---|---|---|---|---|
${[
  row(
    "a cluster of three is created",
    "three healthy voters",
    "create → 3 voters",
    "three plain pods that know each other",
  ),
  row("the pod of a follower is deleted", "three healthy voters", "follower deleted → 3 voters", again),
  row("the pod of the leader is deleted", "three healthy voters", "leader deleted → 3 voters", again),
  row(
    "the pod of a leader with a volume is deleted",
    "the same three voters",
    "leader with a volume deleted → the same 3 voters",
    `${again} on its claim`,
  ),
  row(
    "a follower with 200 MiB of data is deleted",
    "three voters with all data",
    "follower of 200 MiB deleted → 3 voters with all data",
    "replaced by hand",
  ),
  row("", "three that serve clients", "follower of 200 MiB deleted → 3 that serve", "replaced by hand"),
  row("three members become five", "five healthy voters", "3 → 5 members", "two plain pods made"),
  row(
    "three members are upgraded by a minor version",
    "all read in the new version",
    "3 members 3.6.16 → 3.7.3",
    "images changed by hand",
  ),
].join("\n")}

A new member that gets its data as a snapshot (after about a hundred writes) votes just as soon, but answers clients about 7 s later. The
cause is etcd, and the floor has the same delay.

## Writes that wait
The longest time between two acknowledged writes, for a client that tries the next member when one does not answer within 0.1 s:

| what happens | no writes for |
|---|---|
${[
  gap("the process of a follower is killed", "no writes: follower's process killed"),
  gap("the pod of the leader is deleted", "no writes: leader's pod deleted", ": leadership is handed over"),
  gap(
    "the process of the leader is killed",
    "no writes: leader's process killed",
    `: one election; ${figure("no writes: leader's process killed").floor} for plain pods`,
  ),
  gap("all members are upgraded", "no writes: members upgraded", ", and no write failed"),
].join("\n")}

## What is waited for
Some losses look like a delay at first, so the operator waits before it replaces a member:

| what happens | waits | set by |
|---|---|---|
| a node is unreachable, or deleted | 60 s; with permissions in one namespace only, 300 s | \`spec.failover.unreachableAfterSeconds\` |
| etcd exits again and again | 120 s | \`spec.failover.crashLoopAfterSeconds\` |
| a pod is deleted, evicted, or lost its data | nothing | |
| the operator itself ends; falls silent | nothing with a second replica; 15 s | |

## A lost cluster
| what happens | until | time | floor |
|---|---|---|---|
${[
  ["a small backup", "`Succeeded`, read back", "small backup: create → Succeeded", "a pod that ends at once"],
  [
    "a restore in place",
    "three healthy voters",
    "restore in place: create → 3 voters",
    "three plain pods without data",
  ],
  ["a backup of 1 GiB", "stored and read back", "backup of 1024 MiB → stored and read back", "etcdctl and curl"],
  ["1 GiB restored", "on disk and checked", "restore of 1024 MiB → data of a member", "curl and etcdutl"],
]
  .map(([what = "", until = "", name = "", floorIs = ""]) => {
    const { ours, floor } = figure(name);
    return `| ${what} | ${until} | ${ours} | ${floor}: ${floorIs} |`;
  })
  .join("\n")}

These are few samples: [benchmarks.md](benchmarks.md#backup-and-restore) has them. If all pods of a cluster with
[volumes](volumes.md) are deleted, the members restart on their volumes, and you need no restore. A restore brings back what
the last backup holds, so you can lose what was written since. [backups.md](backups.md#how-long-it-takes) describes a loss from
beginning to end.
`;
}
