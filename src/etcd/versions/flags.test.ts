import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hasFlag, hasSetting, isInEveryVersion, type Spelling, spellingsOf, spellingsToSet } from "./flags.ts";
import { version } from "./version.ts";

describe("the flags of a version", () => {
  test("come and go with the minors", () => {
    for (const [flag, with_, without] of [
      ["max-learners", ["3.6.0", "3.7.3"], ["3.5.35"]],
      ["feature-gates", ["3.6.0"], ["3.5.35"]],
      ["enable-v2", ["3.2.13", "3.5.35"], ["3.6.0"]],
      ["listen-metrics-urls", ["3.3.0", "3.7.3"], ["3.2.13"]],
      ["experimental-corrupt-check-time", ["3.3.0", "3.6.16"], ["3.7.0"]],
      ["ca-file", ["3.3.0"], ["3.4.0"]],
    ] as const) {
      for (const text of with_) assert.equal(hasFlag(version(text), flag), true, `${flag} ${text}`);
      for (const text of without) assert.equal(hasFlag(version(text), flag), false, `${flag} ${text}`);
    }
    assert.equal(hasFlag(version("3.9.0"), "max-learners"), true, "a newer minor counts as the newest known");
    assert.throws(() => hasFlag(version("3.1.0"), "name"), RangeError);
  });

  test("are in every version, or not", () => {
    for (const flag of ["name", "data-dir", "initial-cluster-token", "snapshot-count", "heartbeat-interval"])
      assert.equal(isInEveryVersion(flag), true, flag);
    for (const flag of [
      "max-learners",
      "listen-metrics-urls",
      "pre-vote",
      "debug",
      "corrupt-check-time",
      "make-it-fast",
    ])
      assert.equal(isInEveryVersion(flag), false, flag);
  });
});

describe("a setting", () => {
  const flag = (name: string): Spelling => ({ t: "flag", name });
  const gate = (name: string): Spelling => ({ t: "featureGate", gate: name });
  const freelist = [flag("backend-bbolt-freelist-type"), flag("experimental-backend-bbolt-freelist-type")];
  const corruptCheck = [gate("InitialCorruptCheck"), flag("experimental-initial-corrupt-check")];

  test("has the same names whichever of them is asked for", () => {
    for (const name of ["corrupt-check-time", "experimental-corrupt-check-time"])
      assert.deepEqual(spellingsOf(flag(name)), [flag("corrupt-check-time"), flag("experimental-corrupt-check-time")]);
    for (const any of [flag("initial-corrupt-check"), flag("experimental-initial-corrupt-check"), ...corruptCheck])
      assert.deepEqual(spellingsOf(any), corruptCheck);
    for (const any of freelist) assert.deepEqual(spellingsOf(any), freelist);
    assert.deepEqual(spellingsOf(flag("pre-vote")), [flag("pre-vote")]);
    assert.deepEqual(spellingsOf(gate("OfTomorrow")), [gate("OfTomorrow")]);
  });

  test("does not get a second name by a prefix: --experimental-force-new-cluster is not force-new-cluster", () => {
    for (const name of ["experimental-force-new-cluster", "experimental-data-dir", "make-it-fast"])
      assert.deepEqual(spellingsOf(flag(name)), [], name);
  });

  test("is taken from the version on that has it under some name", () => {
    for (const [setting, with_, without] of [
      [flag("corrupt-check-time"), ["3.3.27", "3.5.35", "3.6.16", "3.7.3"], ["3.2.13"]],
      [gate("InitialCorruptCheck"), ["3.3.27", "3.5.35", "3.6.16", "3.7.3"], ["3.2.13"]],
      [gate("PriorityRequest"), ["3.7.3"], ["3.6.16", "3.5.35"]],
      [gate("OfTomorrow"), ["3.6.16", "3.7.3"], ["3.5.35"]],
      [flag("enable-v2"), ["3.5.35"], ["3.6.16", "3.7.3"]],
    ] as const) {
      for (const text of with_)
        assert.equal(hasSetting(version(text), setting), true, `${text} ${JSON.stringify(setting)}`);
      for (const text of without)
        assert.equal(hasSetting(version(text), setting), false, `${text} ${JSON.stringify(setting)}`);
    }
  });

  test("is set under its version's name and those that no version knows together with it", () => {
    for (const [text, setting, wanted] of [
      ["3.5.35", flag("corrupt-check-time"), [flag("experimental-corrupt-check-time")]],
      ["3.6.16", flag("experimental-corrupt-check-time"), [flag("corrupt-check-time")]],
      ["3.7.3", flag("experimental-corrupt-check-time"), [flag("corrupt-check-time")]],
      ["3.4.23", flag("backend-bbolt-freelist-type"), freelist.toReversed()],
      ["3.6.16", flag("backend-bbolt-freelist-type"), freelist],
      ["3.5.35", gate("InitialCorruptCheck"), [flag("experimental-initial-corrupt-check")]],
      ["3.6.16", flag("experimental-initial-corrupt-check"), [gate("InitialCorruptCheck")]],
      ["3.2.13", flag("corrupt-check-time"), []],
      ["3.7.3", flag("enable-v2"), []],
    ] as const)
      assert.deepEqual(spellingsToSet(version(text), setting), wanted, text);
  });
});
