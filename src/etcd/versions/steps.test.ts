import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { stepBetween, versionToRun } from "./steps.ts";
import { formatVersion, version } from "./version.ts";

describe("a step to another version", () => {
  const rows = [
    ["3.5.21", "3.5.21", "same"],
    ["3.5.21", "3.5.35", "patch"],
    ["3.5.35", "3.5.21", "patch"],
    ["3.4.23", "3.5.35", "upgrade"],
    ["3.2.13", "3.3.27", "upgrade"],
    ["3.5.32", "3.6.16", "upgrade"],
    ["3.5.31", "3.6.16", "patchTooOld"],
    ["3.6.11", "3.7.3", "upgrade"],
    ["3.6.10", "3.7.3", "patchTooOld"],
    ["3.5.35", "3.7.3", "skipsMinor"],
    ["3.7.3", "3.6.16", "downgrade"],
    ["3.6.16", "3.5.35", "downgrade"],
    ["3.7.3", "3.5.35", "skipsMinor"],
    ["3.5.35", "3.4.23", "downgradeUnsupported"],
    ["3.6.16", "4.0.0", "otherMajor"],
  ] as const;
  for (const [from, to, wanted] of rows)
    test(`from ${from} to ${to} is ${wanted}`, () => {
      const step = stepBetween(version(from), version(to));
      assert.equal(step.t === "refused" ? step.because : step.t, wanted);
      if (step.t === "refused") assert.match(step.advice, /\.$/);
    });
});

describe("the version of a new member", () => {
  const rows: readonly (readonly [readonly string[], string, string, string])[] = [
    [[], "3.6.16", "3.6.16", "nothing runs"],
    [["3.6.16", "3.6.16"], "3.6.16", "3.6.16", "nothing changes"],
    [["3.5.21", "3.5.21"], "3.5.35", "3.5.35", "a newer patch"],
    [["3.5.35", "3.5.35"], "3.5.21", "3.5.21", "an older patch"],
    [["3.5.21", "3.5.30"], "3.5.35", "3.5.35", "patches are mixed"],
    [["3.5.10", "3.5.10"], "3.7.3", "3.5.10", "two minors up"],
    [["3.5.35", "3.5.35"], "3.6.16", "3.5.35", "one minor up is an upgrade's to do"],
    [["3.6.16", "3.6.16"], "3.5.35", "3.6.16", "one minor down"],
    [["3.5.35", "3.5.35"], "3.2.13", "3.5.35", "three minors down"],
    [["3.6.16", "3.5.35", "3.5.35"], "3.6.16", "3.5.35", "an upgrade began"],
    [["3.6.16", "3.6.16", "3.5.35"], "3.6.16", "3.6.16", "an upgrade is nearly through"],
    [["3.6.16", "3.5.35"], "3.6.16", "3.5.35", "halfway, the older"],
    [["3.5.35", "3.6.16"], "3.6.16", "3.5.35", "halfway, in another order"],
    [["3.5.21", "3.5.35", "3.6.16"], "3.6.16", "3.5.21", "one of each, the oldest"],
  ];
  for (const [running, wanted, made, why] of rows)
    test(`is ${made} when ${running.join(", ") || "nothing"} runs and ${wanted} is wanted: ${why}`, () => {
      assert.equal(formatVersion(versionToRun(running.map(version), version(wanted))), made);
    });
});
