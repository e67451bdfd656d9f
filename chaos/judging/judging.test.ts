// Our checks find what they are for and nothing else; recovery times are what a person would read off the samples.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { ActionOf } from "../../src/cluster/plan/actions.ts";
import { type Logger, logger } from "../../src/kube/process/log.ts";
import { hashVerdict, identityVerdict, oneDisruptionVerdict, restoreVerdict, trafficVerdict } from "./checks.ts";
import { healedAt, longestGap, recoveryOf, spreadOf } from "./recovery.ts";
import { actionsIn, type OperatorAction, type Sample } from "./samples.ts";

const voters = ["a", "b", "c"];
const answer = { at: 0, clusterId: "c1", revision: 5, term: 2 };

/** Twice a second for ten seconds; those who are silent are so from the beginning. */
function looks(silent: readonly string[] = [], names: readonly string[] = voters): Sample[] {
  return Array.from({ length: 20 }, (_, number) => ({
    at: number * 500,
    healthy: silent.length === 0,
    why: "",
    members: names.map((name) => (silent.includes(name) ? { name } : { name, answer })),
    voters: names,
  }));
}

const act = (what: string, member: string, cause = ""): OperatorAction => ({
  at: 9_000,
  do: what,
  member,
  because: "",
  cause,
});

describe("one disruption at a time", () => {
  const cases: [string, OperatorAction[], Sample[], "passed" | "failed"][] = [
    ["a restart of one of three that are well", [act("changeImage", "a")], looks(), "passed"],
    ["a restart while another is away", [act("changeImage", "a")], looks(["b"]), "failed"],
    ["a restart of the one that is away", [act("changeImage", "b")], looks(["b"]), "passed"],
    ["a removal of one of three that are well", [act("removeMember", "a", "unwanted")], looks(), "passed"],
    ["a removal that leaves one of two", [act("removeMember", "a", "unwanted")], looks(["b"]), "failed"],
    ["a removal of the one that is lost", [act("removeMember", "b", "lost")], looks(["b"]), "passed"],
    [
      "a removal that leaves three of four",
      [act("removeMember", "a", "unwanted")],
      looks(["b"], ["a", "b", "c", "d", "e"]),
      "passed",
    ],
    [
      "the pod of a member that was removed before",
      [act("removeMember", "a", "unwanted"), act("deletePod", "a")],
      looks(),
      "passed",
    ],
    [
      "the pod of a member that was lost and removed before",
      [act("removeMember", "a", "lost"), act("deletePod", "a")],
      looks(["b"]),
      "passed",
    ],
    ["the pod of a voter while another is away", [act("deletePod", "a")], looks(["c"]), "failed"],
    ["the pod of somebody who has no vote", [act("deletePod", "z")], looks(["c"]), "passed"],
    ["a start again, which needs nobody", [act("startAgain", "a")], looks(["b"]), "passed"],
    ["the only member's restart", [act("changeImage", "a")], looks([], ["a"]), "passed"],
  ];
  for (const [what, actions, samples, expected] of cases)
    test(`${expected}: ${what}`, () => {
      assert.equal(oneDisruptionVerdict(actions, samples).status, expected);
    });

  test("is skipped when nobody could list the members", () => {
    const blind = looks().map(({ at, healthy, why, members }) => ({ at, healthy, why, members }));
    assert.equal(oneDisruptionVerdict([act("changeImage", "a")], blind).status, "skipped");
  });
});

describe("identity", () => {
  const after = (name: string, now: Partial<typeof answer>): Sample[] => [
    ...looks(),
    { at: 10_000, healthy: true, why: "", members: [{ name, answer: { ...answer, ...now } }] },
  ];
  test("holds while revisions and terms grow", () => {
    assert.equal(identityVerdict(after("a", { revision: 6, term: 3 })).status, "passed");
  });
  for (const [what, now, says] of [
    ["another cluster id", { clusterId: "c2" }, /c2 instead of c1/],
    ["an older revision", { revision: 4 }, /revision 5, term 2 back to revision 4/],
    ["an older term", { term: 1 }, /term 2 back to revision 5, term 1/],
  ] as const)
    test(`fails with ${what}`, () => {
      const verdict = identityVerdict(after("a", now));
      assert.equal(verdict.status, "failed");
      assert.match(verdict.why ?? "", says);
    });
  test("holds when of two questions under way at once the later is answered first", () => {
    const [first, second] = [
      { at: 10_000, answer: { ...answer, at: 10_400, revision: 7 } },
      { at: 10_300, answer: { ...answer, at: 10_310, revision: 6 } },
    ].map(({ at, answer }): Sample => ({ at, healthy: true, why: "", members: [{ name: "a", answer }] }));
    assert.ok(first && second);
    assert.equal(identityVerdict([first, second]).status, "passed");
    assert.equal(identityVerdict([first, { ...second, at: 10_500 }]).status, "failed");
  });
  test("is skipped without an answer", () => {
    assert.equal(identityVerdict(looks(voters)).status, "skipped");
  });
});

describe("hashes", () => {
  const of = (...hashes: number[]) =>
    hashes.map((hash, at) => ({ member: voters[at] ?? "", hash, compactRevision: 1 }));
  test("are equal, differ, or were not asked for", () => {
    assert.deepEqual(
      [of(1, 1, 1), of(1, 2, 1), []].map((one) => hashVerdict(one).status),
      ["passed", "failed", "skipped"],
    );
  });
});

describe("restore", () => {
  const backup = { revision: 9, keys: [["a", "1"]] as const };
  const cases: [string, readonly (readonly [string, string])[], number, "passed" | "failed"][] = [
    ["exactly the backup", [["a", "1"]], 20, "passed"],
    ["a key is missing", [], 20, "failed"],
    ["another value", [["a", "2"]], 20, "failed"],
    [
      "something later",
      [
        ["a", "1"],
        ["b", "1"],
      ],
      20,
      "failed",
    ],
    ["an older revision", [["a", "1"]], 11, "failed"],
  ];
  for (const [what, keys, revision, expected] of cases)
    test(`${expected}: ${what}`, () => {
      assert.equal(restoreVerdict(backup, 12, { revision, keys }).status, expected);
    });
});

describe("traffic", () => {
  test("below the floor does not count, and is no failure", () => {
    assert.deepEqual([trafficVerdict(300, 5).status, trafficVerdict(100, 5).status], ["passed", "skipped"]);
  });
});

describe("actions of the operator", () => {
  /** As the kubelet writes what the operator says. */
  function logOf(say: (log: Logger) => void): string {
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(`2026-11-19T03:00:00.5Z stdout F ${line}`);
    say(logger({ write, now: () => new Date("2026-11-19T03:00:00.250Z") }));
    return lines.join("");
  }
  const because = "it is lost";
  const removal: Pick<ActionOf<"removeMember">, "do" | "because" | "cause"> & { member: string } = {
    do: "removeMember",
    member: "c-1",
    because,
    cause: "lost",
  };

  test("are read from the lines that say what was done to this cluster", () => {
    const log = logOf((log) => {
      log.with({ cluster: "ns/c", reconcileID: "1" }).info("did", { action: removal });
      log.with({ cluster: "ns/other" }).info("did", { action: removal });
      log.with({ cluster: "ns/c" }).warn("refused", { action: removal });
    });
    assert.deepEqual(actionsIn(`${log}2026-11-19T03:00:00.5Z stdout F {"message":"did","cl`, "ns/c"), [
      { at: Date.parse("2026-11-19T03:00:00.250Z"), ...removal },
    ]);
  });
});

describe("recovery", () => {
  test("the longest gap is between two writes, or before the first, or after the last", () => {
    assert.deepEqual(longestGap([10, 20, 90], 0, 100), { from: 20, to: 90 });
    assert.deepEqual(longestGap([90, 20], 0, 100), { from: 20, to: 90 });
    assert.deepEqual(longestGap([], 0, 100), { from: 0, to: 100 });
    assert.deepEqual(longestGap([10], 0, 100), { from: 10, to: 100 });
  });

  test("no gap is longer than the longest", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 30 }), (writes) => {
        const { from, to } = longestGap(writes, 0, 1000);
        const all = [0, ...writes.toSorted((a, b) => a - b), 1000];
        for (const [at, one] of all.entries()) assert.ok((all[at + 1] ?? one) - one <= to - from);
        assert.ok(!writes.some((one) => one > from && one < to));
      }),
    );
  });

  test("healed is the first look of those that saw nothing wrong until the end", () => {
    const seen = (...healthy: boolean[]): Sample[] =>
      healthy.map((one, at) => ({ at: at * 100, healthy: one, why: "", members: [] }));
    assert.equal(healedAt(seen(true, false, true, false, true, true), 0), 400);
    assert.equal(healedAt(seen(false, true, true), 50), 50);
    assert.equal(healedAt(seen(true, false), 0), undefined);
  });

  test("a fault that stops writes and is undone later", () => {
    const writes = [0, 100, 200, 1700, 1800, 1900, 2000];
    const samples = [0, 500, 1000, 1500, 2000, 2500].map((at) => ({
      at,
      healthy: at < 300 || at > 1600,
      why: "",
      members: [],
    }));
    assert.deepEqual(recoveryOf({ began: 0, injected: 250, undone: 900, ended: 2000 }, writes, samples), {
      writableMs: 1450,
      longestGapMs: 1500,
      healedMs: 1750,
      undoneMs: 650,
    });
  });

  test("a fault that stops no writes", () => {
    const times = { began: 0, injected: 250, undone: undefined, ended: 500 };
    assert.deepEqual(recoveryOf(times, [0, 100, 200, 450, 500], []), { writableMs: 0, longestGapMs: 250, healedMs: 0 });
  });

  test("spreads", () => {
    assert.equal(spreadOf([]), undefined);
    assert.deepEqual(spreadOf([3, 1, 2]), { n: 3, min: 1, p50: 2, p90: 3, max: 3 });
    assert.deepEqual(spreadOf(Array.from({ length: 10 }, (_, at) => at + 1)), {
      n: 10,
      min: 1,
      p50: 5,
      p90: 9,
      max: 10,
    });
  });
});
