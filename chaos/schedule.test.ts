// A seed and the names decide the rounds; every fault meets changes that a cluster has to survive.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { changeNames, changes, fewestMembers } from "./changes/list.ts";
import { chaosOptions, sameAgain } from "./options.ts";
import { faultNames, faults } from "./faults/list.ts";
import { fits, type Round, schedule, type ScheduleOptions } from "./schedule.ts";

const all = (seed: number): ScheduleOptions => ({ seed, faults: faultNames, changes: changeNames });

function first(count: number, options: ScheduleOptions): Round[] {
  const rounds = schedule(options);
  return Array.from({ length: count }, () => rounds.next().value);
}

describe("schedule", () => {
  test("is the same for the same seed, and begins the same whatever its length", () => {
    fc.assert(
      fc.property(fc.nat(999_999_999), fc.integer({ min: 1, max: 60 }), (seed, count) => {
        const rounds = first(60, all(seed));
        assert.deepEqual(first(60, all(seed)), rounds);
        assert.deepEqual(first(count, all(seed)), rounds.slice(0, count));
      }),
    );
  });

  test("differs from seed to seed", () => {
    const distinct = new Set(Array.from({ length: 50 }, (_, seed) => JSON.stringify(first(5, all(seed)))));
    assert.equal(distinct.size, 50);
  });

  test("has every fault before it has one twice, and every change in time", () => {
    fc.assert(
      fc.property(fc.nat(999_999_999), (seed) => {
        const rounds = first(faultNames.length * 4, all(seed));
        for (let at = 0; at < rounds.length; at += faultNames.length) {
          const cycle = rounds.slice(at, at + faultNames.length).map(({ fault }) => fault);
          assert.deepEqual(cycle.toSorted(), faultNames.toSorted());
        }
        assert.deepEqual(new Set(rounds.map(({ change }) => change)), new Set(changeNames));
      }),
    );
  });

  test("never asks a cluster to survive what costs its data by design", () => {
    fc.assert(
      fc.property(fc.nat(999_999_999), (seed) => {
        for (const round of first(80, all(seed))) {
          assert.ok(fits(round.fault, round.change), JSON.stringify(round));
          if (faults[round.fault].losesData) assert.ok(fewestMembers(round.change) >= 3, JSON.stringify(round));
        }
      }),
    );
  });

  test("has certificates and a login in about half of the rounds", () => {
    const secured = first(400, all(7)).filter((round) => round.secured).length;
    assert.ok(secured > 140 && secured < 260, `${secured} of 400`);
  });

  test("undoes each fault while clients still write, and begins the change around it", () => {
    for (const round of first(400, all(11))) {
      assert.ok(round.seconds >= 10 && round.seconds <= 20, JSON.stringify(round));
      assert.ok(round.faultAt + round.faultLasts + 4 < round.seconds, JSON.stringify(round));
      assert.ok(round.changeAt > 1 && round.changeAt < round.faultAt + 2, JSON.stringify(round));
    }
  });

  test("heeds which faults and changes are asked for, and what a change needs", () => {
    const rounds = first(20, { seed: 3, faults: ["kill-leader", "delay"], changes: ["rotate-ca", "scale-1-3"] });
    assert.deepEqual(new Set(rounds.map(({ fault }) => fault)), new Set(["kill-leader", "delay"]));
    for (const { fault, change, secured, size } of rounds) {
      if (change === "rotate-ca") assert.ok(secured);
      if (change === "scale-1-3") assert.deepEqual([fault, size], ["kill-leader", 1]);
    }
  });

  test("says so when nothing that is asked for fits together", () => {
    const options: ScheduleOptions = { seed: 1, faults: ["delete-leader"], changes: ["scale-3-1"] };
    assert.throws(() => first(1, options), /delete-leader.*scale-3-1/);
  });

  test("never waits for an operator that was told to do nothing", () => {
    assert.ok(!fits("delete-two", "pause-resume") && fits("delete-leader", "pause-resume"));
  });

  test("can have each fault alone and each change alone", () => {
    for (const fault of faultNames) assert.ok(fits(fault, "none"), fault);
    for (const change of changeNames) assert.ok(fits("none", change), change);
    assert.ok(Object.values(changes).every(({ what }) => what !== ""));
  });
});

describe("options", () => {
  const drawn = (): number => 42;

  test("are five minutes of everything with a new seed", () => {
    const options = chaosOptions({}, drawn);
    assert.deepEqual(options, { minutes: 5, seed: 42, faults: faultNames, changes: changeNames, page: false });
  });

  test("name faults and changes in any order", () => {
    const options = chaosOptions({ CHAOS_FAULTS: "partition, none", CHAOS_CHANGES: "setting backup" }, drawn);
    assert.deepEqual(
      [options.faults, options.changes],
      [
        ["none", "partition"],
        ["setting", "backup"],
      ],
    );
  });

  for (const [wrong, says] of [
    [{ CHAOS_MINUTES: "soon" }, /CHAOS_MINUTES/],
    [{ CHAOS_SEED: "x" }, /CHAOS_SEED/],
    [{ CHAOS_FAULTS: "meteor" }, /meteor.*kill-leader/],
    [{ CHAOS_CHANGES: "meteor" }, /meteor.*scale-1-3/],
  ] as const)
    test(`are refused with ${JSON.stringify(wrong)}`, () => {
      assert.throws(() => chaosOptions(wrong, drawn), says);
    });

  test("can be had again", () => {
    const environment = { CHAOS_FAULTS: "delay", CHAOS_MINUTES: "1" };
    assert.equal(
      sameAgain(chaosOptions(environment, drawn), environment),
      "make chaos CHAOS_SEED=42 CHAOS_MINUTES=1 CHAOS_FAULTS='delay'",
    );
  });
});
