// Tables of situations: the world in a few words, what is to be done about it, and how soon it is reconciled again.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../assess/assess.ts";
import { planCluster } from "../plan/plan.ts";
import { settingsOf } from "../objects/settings.ts";
import type { MemberPod, PodState } from "../observe/world.ts";
import { type SampleMember, type SampleWorld, sampleCluster, sampleNow, sampleWorld } from "./sample-world.ts";
import { inWords } from "./actions-in-words.ts";

export const minute = 60_000;
export const running: PodState = { t: "running", restarts: 0 };
export const ended: Partial<MemberPod> = { state: { t: "ended", problem: "Evicted" }, address: undefined };
export const going: Partial<MemberPod> = { terminating: true };
export const young: Partial<MemberPod> = { createdAt: sampleNow - 1000 };
/** Made with what the spec says now. */
export const unchanged: Partial<MemberPod> = { madeFrom: settingsOf(sampleCluster({}).spec) };
export const starting: Partial<MemberPod> = { ...young, state: { t: "starting" }, address: undefined };
export const homeless: Partial<MemberPod> = { ...starting, state: { t: "pending", problem: "Unschedulable" } };
export const crashing = (ago: number): Partial<MemberPod> => ({
  state: { t: "crashing", since: sampleNow - ago, exitedAt: sampleNow - 1, restarts: 5, problem: "exit code 1" },
});
export const onSilentNode = (ago: number): Partial<MemberPod> => ({
  node: { t: "silent", name: "n", since: sampleNow - ago },
});
/** Beside the member of that letter. */
export const onNodeOf = (letter: string): Partial<MemberPod> => ({
  node: { t: "ready", name: `node-of-demo-${letter}` },
});
export const urls = (...letters: string[]): string[] => letters.map((l) => `http://demo-${l}.demo.shop.svc:2380`);

export const voter = (letter: string, more: Partial<SampleMember> = {}): SampleMember => ({ letter, ...more });
export const learner = (letter: string, more: Partial<SampleMember> = {}): SampleMember => ({
  letter,
  learner: true,
  ...more,
});
/** Added, and its process has not been heard of. */
export const added = (letter: string, more: Partial<SampleMember> = {}): SampleMember =>
  learner(letter, { unnamed: true, ...more });
export const gone = (letter: string, more: Partial<SampleMember> = {}): SampleMember =>
  voter(letter, { silent: true, pod: undefined, ...more });
export const three = [voter("a"), voter("b"), voter("c")];
export const five = [...three, voter("d"), voter("e")];

/** What is seen, what is done, and how soon it is reconciled again (an upper limit). */
export type Row = readonly [situation: string, world: SampleWorld, done: readonly string[], requeueWithin?: number];

export function check(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [situation, sample, done, requeueWithin] of rows)
      test(situation, () => {
        const { guards, decisions, upkeep } = planCluster(assess(sampleWorld(sample), sampleNow), countingUp());
        const [{ actions, because, requeueAfter }] = decisions;
        assert.deepEqual(inWords([...guards, ...actions, ...upkeep]), done, because);
        assert.match(because, /^\S.{5,}/, "every plan says why");
        assert.ok(done.length > 0 || requeueAfter !== 0, "who does nothing and looks again at once never rests");
        if (requeueWithin !== undefined)
          assert.ok((requeueAfter ?? Number.POSITIVE_INFINITY) <= requeueWithin, String(requeueAfter));
      });
  });
}

/** Random enough for names, the same in each run. */
function countingUp(): () => number {
  let n = 0;
  return () => {
    n = (n * 31 + 7) % 997;
    return n / 997;
  };
}
