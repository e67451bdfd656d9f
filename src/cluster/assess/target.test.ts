import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatVersion, version } from "../../etcd/versions/version.ts";
import { type Running, type Target, targetOf } from "./target.ts";

/** The versions that run, each with the one that its data is stored in behind a slash. */
function running(members: string, more: { downgrade?: string; log?: string } = {}): Running {
  const each = members.split(" ").filter((text) => text !== "");
  return {
    versions: each.map((text) => version(text.split("/")[0] ?? "")),
    storage: each.map((text) => (text.includes("/") ? version(`${text.split("/")[1]}.0`) : undefined)),
    downgrade: more.downgrade === undefined ? undefined : version(more.downgrade),
    log: more.log === undefined ? undefined : version(`${more.log}.0`),
  };
}

/** As in `3.6.16, then 3.7.3; first enableDowngrade 3.5.0`. */
function inWords({ now, later, first, refused }: Target): string {
  if (refused !== undefined) return `${formatVersion(now)}; refused`;
  const steps = [now, ...later].map(formatVersion).join(", then ");
  if (first === undefined) return steps;
  const detail = "to" in first ? ` ${formatVersion(first.to)}` : "by" in first ? ` ${formatVersion(first.by)}` : "";
  return `${steps}; first ${first.t}${detail}`;
}

type Row = readonly [what: string, wanted: string, running: Running, target: string, path?: "Automatic"];

function check(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [what, wanted, members, target, path = "Manual"] of rows)
      test(what, () => assert.equal(inWords(targetOf(version(wanted), members, path)), target));
  });
}

const of36 = "3.6.16/3.6 3.6.16/3.6 3.6.16/3.6";
const of37 = "3.7.3/3.7 3.7.3/3.7 3.7.3/3.7";

check("the version that members run next", [
  ["is the spec's when nothing runs", "3.7.3", running(""), "3.7.3"],
  ["is another patch at once", "3.5.35", running("3.5.21 3.5.21 3.5.21"), "3.5.35"],
  ["is an older patch at once, too", "3.5.21", running("3.5.35 3.5.35"), "3.5.21"],
  ["is the next minor", "3.6.16", running("3.5.35 3.5.35 3.5.35"), "3.6.16"],
  ["is not a patch that must not be moved to", "3.5.1", running("3.5.35 3.5.35"), "3.5.35; refused"],
  ["is not two minors up", "3.6.16", running("3.4.23 3.4.23"), "3.4.23; refused"],
  ["waits for a patch that may be left", "3.6.16", running("3.5.35 3.5.21 3.5.35"), "3.5.35; refused"],
  [
    "stays what most members run where it cannot be followed",
    "3.6.16",
    running("3.5.35 3.5.35 3.5.21"),
    "3.5.35; refused",
  ],
  ["stays the older of two that as many run", "3.7.3", running("3.5.21 3.5.35"), "3.5.21; refused"],
  ["stays the older of the two in any order", "3.7.3", running("3.5.35 3.5.21"), "3.5.21; refused"],
  ["is not an older minor without a way back", "3.4.23", running("3.5.35 3.5.35"), "3.5.35; refused"],
]);

check("a step that is under way", [
  ["goes on", "3.6.16", running("3.6.16/3.5 3.5.35 3.5.35"), "3.6.16"],
  ["goes back", "3.5.35", running("3.6.16/3.5 3.5.35 3.5.35"), "3.5.35"],
  ["goes on whichever member is ahead", "3.7.3", running("3.6.16/3.6 3.7.3/3.6", { log: "3.5" }), "3.7.3"],
  ["is finished first when less is asked for", "3.5.35", running("3.7.3/3.6 3.6.16/3.6"), "3.6.16; refused"],
  [
    "is finished by itself downwards, too",
    "3.5.35",
    running("3.7.3/3.6 3.6.16/3.6"),
    "3.6.16, then 3.5.35",
    "Automatic",
  ],
  ["goes back to another patch", "3.5.21", running("3.6.16/3.5 3.5.35 3.5.35"), "3.5.21"],
  ["goes back while etcd still counts as the older version", "3.5.35", running("3.6.16/3.5 3.6.16/3.5"), "3.5.35"],
  ["is finished first when more is asked for", "3.7.3", running("3.6.16/3.5 3.5.35"), "3.5.35; refused"],
  [
    "is finished by itself on an automatic path",
    "3.7.3",
    running("3.6.16/3.5 3.5.35", { log: "3.5" }),
    "3.6.16, then 3.7.3",
    "Automatic",
  ],
]);

check("an automatic path", [
  [
    "goes through the minors between",
    "3.7.3",
    running("3.4.23 3.4.23"),
    "3.5.35, then 3.6.16, then 3.7.3",
    "Automatic",
  ],
  ["goes to a patch that may be left first", "3.6.16", running("3.5.21 3.5.21"), "3.5.35, then 3.6.16", "Automatic"],
  ["goes nowhere where there is no way", "3.4.23", running("3.5.35 3.5.35"), "3.5.35; refused", "Automatic"],
  [
    "goes down one minor at a time",
    "3.5.35",
    running(of37),
    "3.7.3, then 3.6.16, then 3.5.35; first enableDowngrade 3.6.0",
    "Automatic",
  ],
]);

check("before 3.7", [
  ["a log that began with 3.6 is fine", "3.7.3", running(of36, { log: "3.6" }), "3.7.3"],
  [
    "a log of 3.5 is made again by a downgrade that is not carried out",
    "3.7.3",
    running(of36, { log: "3.5" }),
    "3.6.16, then 3.7.3; first enableDowngrade 3.5.0",
  ],
  [
    "a log of which nothing is known is made again, too",
    "3.7.3",
    running(of36),
    "3.6.16, then 3.7.3; first enableDowngrade 3.5.0",
  ],
  [
    "every member must have stored its data in the older version",
    "3.7.3",
    running("3.6.16/3.5 3.6.16/3.6 3.6.16/3.5", { downgrade: "3.5.0", log: "3.5" }),
    "3.6.16, then 3.7.3; first wait",
  ],
  [
    "the new log is written down when all have",
    "3.7.3",
    running("3.6.16/3.5 3.6.16/3.5 3.6.16/3.5", { downgrade: "3.5.0", log: "3.5" }),
    "3.6.16, then 3.7.3; first recordLog 3.6.0",
  ],
  [
    "a member that does not say where its data is stored is waited for",
    "3.7.3",
    running("3.6.16/3.5 3.6.16", { downgrade: "3.5.0", log: "3.5" }),
    "3.6.16, then 3.7.3; first wait",
  ],
  [
    "the downgrade is cancelled, also by an operator that comes in between",
    "3.7.3",
    running("3.6.16/3.5 3.6.16/3.5", { downgrade: "3.5.0", log: "3.6" }),
    "3.6.16, then 3.7.3; first cancelDowngrade",
  ],
  [
    "etcd must count as 3.6 again",
    "3.7.3",
    running("3.6.16/3.5 3.6.16/3.5", { log: "3.6" }),
    "3.6.16, then 3.7.3; first wait",
  ],
  [
    "every member must have stored its data as 3.6 again: only that proves that its snapshot is written",
    "3.7.3",
    running("3.6.16/3.6 3.6.16/3.5 3.6.16/3.6", { log: "3.6" }),
    "3.6.16, then 3.7.3; first wait",
  ],
  [
    "a downgrade is enabled only when etcd counts as 3.6",
    "3.7.3",
    running("3.6.16/3.5 3.6.16/3.5", { log: "3.5" }),
    "3.6.16, then 3.7.3; first wait",
  ],
]);

check("a downgrade", [
  [
    "to another version is cancelled before one is enabled",
    "3.6.16",
    running(of37, { downgrade: "3.5.0" }),
    "3.7.3, then 3.6.16; first cancelDowngrade",
  ],
  [
    "to another version is cancelled before the log is made again",
    "3.7.3",
    running(of36, { downgrade: "3.4.0", log: "3.5" }),
    "3.6.16, then 3.7.3; first cancelDowngrade",
  ],
  ["is enabled first", "3.6.16", running(of37), "3.7.3, then 3.6.16; first enableDowngrade 3.6.0"],
  [
    "waits until all data is stored in the older version",
    "3.6.16",
    running("3.7.3/3.6 3.7.3/3.7", { downgrade: "3.6.0" }),
    "3.7.3, then 3.6.16; first wait",
  ],
  ["then changes members", "3.6.16", running("3.7.3/3.6 3.7.3/3.6", { downgrade: "3.6.0" }), "3.6.16"],
  ["goes on", "3.6.16", running("3.7.3/3.6 3.6.16/3.6", { downgrade: "3.6.0" }), "3.6.16"],
  [
    "is cancelled when the spec is set back",
    "3.7.3",
    running("3.7.3/3.6 3.7.3/3.6", { downgrade: "3.6.0" }),
    "3.7.3; first cancelDowngrade",
  ],
  [
    "is cancelled when the spec is set back in the middle",
    "3.7.3",
    running("3.7.3/3.6 3.6.16/3.6", { downgrade: "3.6.0" }),
    "3.6.16, then 3.7.3; first cancelDowngrade",
  ],
  ["goes back up once it is cancelled", "3.7.3", running("3.7.3/3.6 3.6.16/3.6", { log: "3.6" }), "3.7.3"],
  ["is left to etcd to end", "3.6.16", running("3.6.16/3.6 3.6.16/3.6", { downgrade: "3.6.0" }), "3.6.16"],
]);
