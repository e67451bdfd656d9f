// The page tells what is in the results, and says what is not; drawings are well formed and without other hosts.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rateIn, spansOf, type Timeline, timelinePage } from "../evidence/timeline.ts";
import type { Sample } from "../judging/samples.ts";
import { allChecks, type AnyCheck, type RoundResult, type RunResult } from "../result.ts";
import { schedule } from "../schedule.ts";
import type { Verdict } from "../../test/robustness/judge.ts";
import { drawnFrom, robustnessPage } from "./page.ts";
import { distributions, placeOf } from "./svg.ts";

function roundOf(number: number, change: Partial<RoundResult> = {}, verdicts: Partial<Record<AnyCheck, Verdict>> = {}) {
  const rounds = schedule({ seed: number, faults: ["kill-leader"], changes: ["setting"] });
  const checks = Object.fromEntries(allChecks.map((name) => [name, verdicts[name] ?? { status: "passed" }]));
  const result: RoundResult = {
    round: { ...rounds.next().value, number },
    began: "2026-11-19T03:00:00.000Z",
    hit: "c1-x",
    checks: checks as Record<AnyCheck, Verdict>,
    recovery: { writableMs: 800 * number, longestGapMs: 900 * number, healedMs: 4000 * number, undoneMs: 3000 },
    counts: { operations: 1000, acknowledged: 400, unanswered: 3 },
    ...change,
  };
  return result;
}

const runOf = (...rounds: RoundResult[]): RunResult => ({
  seed: 7,
  began: "2026-11-19T03:00:00.000Z",
  commit: "abc1234",
  kubernetes: "1.34.4",
  again: "make chaos CHAOS_SEED=7",
  rounds,
});

/** Every element is closed, in order. */
function isWellFormed(text: string): boolean {
  const open: string[] = [];
  for (const [, end, name = "", itself] of text.matchAll(/<(\/)?([a-zA-Z][\w-]*)(?:[^<>"]|"[^"]*")*?(\/)?>/g)) {
    if (itself !== undefined || name === "meta") continue;
    if (end === undefined) open.push(name);
    else if (open.pop() !== name) return false;
  }
  return open.length === 0;
}

describe("page", () => {
  const run = runOf(
    roundOf(1),
    roundOf(2, {}, { watch: { status: "skipped", why: "no data folder 17" } }),
    roundOf(3, {}, { hash: { status: "failed", why: "they differ" } }),
  );
  const page = robustnessPage([run], {
    found: [
      {
        what: "It forgot a member",
        since: "0.1.0",
        seenBy: "make chaos CHAOS_SEED=9",
        test: "src/cluster/plan/plan.test.ts",
      },
    ],
    falseAlarms: [{ check: "hash", seenBy: "seed 7", what: "It was asked too early", test: "chaos/random.test.ts" }],
  });

  for (const [what, line] of [
    [
      "the rounds and the writes",
      /1 runs, 3 rounds \(\d with TLS and a login\), 1200 acknowledged writes\. Rounds in which a check failed: 1\./,
    ],
    ["how often a check was passed, failed and skipped", /\| `hash` \|[^|]*\| 2 \| 1 \| 0 \|/],
    ["why one was skipped", /- 1 × `watch`: no data folder …/],
    ["which fault met which change", /\| `kill-leader` \|.*\| 3 \(1 failed\) \|/],
    ["recovery times", /\| `kill-leader` \| 3 \| 3\.0 \| 1\.6 \| 2\.4 \| 1\.8 \| 2\.7 \| 8\.0 \| 12\.0 \|/],
    ["the track record", /\| It forgot a member \| 0\.1\.0 \| open \| `make chaos CHAOS_SEED=9` \| \[plan\.test\.ts\]/],
    ["which alarms were false", /\| `hash` \| seed 7 \| It was asked too early \| \[random\.test\.ts\]/],
    ["what nobody tried", /Pairs: 1 of \d+ were tried.*`partition`/],
    ["seeds and versions", /\| 2026-11-19T03:00:00\.000Z \| 7 \| 3 \| abc1234 \| 1\.34\.4 \| 3\./],
  ] as const)
    test(`tells ${what}`, () => {
      assert.match(page, line);
    });

  test("links the pictures that are drawn for it", () => {
    const drawn = drawnFrom([run]).map(({ path }) => path.replace("docs/", ""));
    assert.equal(drawn.length, 3);
    for (const path of drawn) assert.ok(page.includes(`(${path})`), path);
  });

  test("of no round is a page all the same", () => {
    assert.match(robustnessPage([runOf()], { found: [], falseAlarms: [] }), /Nothing yet\./);
    assert.deepEqual(drawnFrom([runOf()]), []);
  });
});

describe("drawing of distributions", () => {
  const svg = distributions("Times <of> & all", [
    { name: "a", samples: [20, 400, 30_000] },
    { name: "nothing", samples: [] },
  ]);

  test("is well formed, has every sample, and leaves out who has none", () => {
    assert.ok(isWellFormed(svg));
    assert.equal(svg.match(/<circle/g)?.length, 3);
    assert.ok(!svg.includes("nothing"));
    assert.ok(svg.includes("Times &lt;of&gt; &amp; all"));
  });

  test("places longer times further to the right, and none outside", () => {
    const places = [1, 10, 100, 1000, 10_000, 999_999].map((ms) => placeOf(ms, 10, 10_000));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.equal(placeOf(1, 10, 10_000), placeOf(10, 10, 10_000));
    assert.equal(placeOf(999_999, 10, 10_000), placeOf(10_000, 10, 10_000));
  });
});

describe("timeline", () => {
  const samples: Sample[] = [0, 400, 800, 1200].map((at) => ({
    at,
    healthy: at !== 400 && at !== 800,
    why: at === 400 || at === 800 ? "c1-a silent" : "",
    members: [{ name: "c1-a", ...(at !== 400 && { answer: { at, clusterId: "1", revision: 1, term: 1 } }) }],
  }));
  const timeline: Timeline = {
    title: "1: kill-leader × none",
    from: 0,
    to: 2000,
    marks: [{ at: 300, what: "fault: <kill-leader>" }],
    fault: { from: 300, to: 900, what: "kill-leader: c1-a" },
    acknowledged: [100, 200, 1500],
    samples,
    actions: [{ at: 1000, do: "removeMember", member: "c1-a", because: "it is lost", cause: "lost" }],
    events: [{ at: 1100, what: "c1: Member Removed: gone" }],
    checks: { hash: { status: "failed", why: "a & b differ" } },
  };

  test("is one well-formed page that asks nobody else", () => {
    const page = timelinePage(timeline);
    assert.ok(isWellFormed(page.replace("<!doctype html>", "")), page);
    assert.ok(!/(src|href)=|url\(|@import/.test(page));
    for (const text of [
      "fault: &lt;kill-leader&gt;",
      "removeMember c1-a – it is lost",
      "Member Removed",
      "a &amp; b differ",
    ])
      assert.ok(page.includes(text), text);
  });

  test("joins looks that say the same until the next look", () => {
    assert.deepEqual(
      spansOf(samples, ({ healthy, why }) => (healthy ? undefined : why), 2000),
      [{ from: 400, to: 1200, what: "c1-a silent" }],
    );
  });

  test("counts what falls into each slice", () => {
    assert.deepEqual(rateIn([0, 1, 5, 9, 10, -1], 0, 10, 2), [2, 2]);
  });
});
