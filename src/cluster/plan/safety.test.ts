// The arithmetic for every cluster that can be. That nobody goes around it the types say: only safety.ts can make a disruption.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { version } from "../../etcd/versions/version.ts";
import { mayAdd, minAvailable, removeGone, removeHealthy } from "./safety.ts";
import { quorum, type Instance, instancesOf } from "../assess/instances.ts";
import { type SampleMember, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import type { ClusterWorld } from "../observe/world.ts";

/** How many voters serve and stay, serve and leave, and are away. */
function table(healthy: number, leaving: number, away: number) {
  const letters = "abcdefghijklmnopqrstu";
  const members = Array.from({ length: healthy + leaving + away }, (_, n): SampleMember => {
    const letter = letters.charAt(n);
    if (n < healthy) return { letter };
    return n < healthy + leaving ? { letter, pod: { terminating: true } } : { letter, silent: true };
  });
  const world: ClusterWorld = sampleWorld({ members });
  assert.ok(world.etcd.t === "quorum");
  return { world, now: sampleNow, instances: instancesOf(world, world.etcd, sampleNow) };
}

const counts = [0, 1, 2, 3, 4, 5, 6, 7];
const combinations = counts.flatMap((h) => counts.flatMap((l) => counts.map((a) => [h, l, a] as const)));
const first = (instances: readonly Instance[], t: Instance["state"]["t"]): Instance | undefined =>
  instances.find(({ state }) => state.t === t);

describe("the arithmetic of safety", () => {
  test("a quorum is more than half", () => {
    assert.deepEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map(quorum), [1, 2, 2, 3, 3, 4, 4, 5, 5]);
  });

  test("a healthy voter goes only when those that serve and stay are a quorum of the rest", () => {
    for (const [healthy, leaving, away] of combinations) {
      const all = table(healthy, leaving, away);
      const instance = first(all.instances, "healthy");
      if (instance === undefined) continue;
      const rest = healthy + leaving + away - 1;
      const expected = leaving === 0 && 2 * (healthy - 1) > rest;
      assert.equal(
        removeHealthy(all, instance, "") !== undefined,
        expected,
        `${healthy} healthy, ${leaving} leaving, ${away} away`,
      );
    }
  });

  test("a leaving or lost voter goes only when those that serve are a quorum of the rest", () => {
    for (const [healthy, leaving, away] of combinations) {
      const all = table(healthy, leaving, away);
      const rest = healthy + leaving + away - 1;
      const counts = `${healthy} healthy, ${leaving} leaving, ${away} away`;
      const going = first(all.instances, "leaving");
      if (going) assert.equal(removeGone(all, going, "") !== undefined, 2 * (healthy + leaving - 1) > rest, counts);
      const lost = first(all.instances, "away");
      if (lost) assert.equal(removeGone(all, lost, "") !== undefined, 2 * (healthy + leaving) > rest, counts);
    }
  });

  test("no removal turns a cluster that would survive its losses into one that would not", () => {
    for (const [healthy, leaving, away] of combinations) {
      const all = table(healthy, leaving, away);
      const survives = (stay: number, voters: number): boolean => stay >= quorum(voters);
      const voters = all.instances.length;
      for (const instance of all.instances) {
        const remove = instance.state.t === "healthy" ? removeHealthy : removeGone;
        if (remove(all, instance, "") === undefined || !survives(healthy, voters)) continue;
        const stay = instance.state.t === "healthy" ? healthy - 1 : healthy;
        assert.ok(
          survives(stay, voters - 1),
          `${healthy} healthy, ${leaving} leaving, ${away} away: ${instance.state.t}`,
        );
      }
    }
  });

  test("a member is added only when etcd can stand it", () => {
    const may = (healthy: number, away: number, v: string) => mayAdd(table(healthy, 0, away).instances, version(v));
    assert.deepEqual([may(1, 0, "3.6.16"), may(2, 0, "3.6.16"), may(3, 0, "3.6.16")], [true, true, true]);
    assert.deepEqual([may(2, 1, "3.6.16"), may(4, 1, "3.6.16"), may(4, 1, "3.6.10")], [false, true, false]);
    assert.equal(may(0, 1, "3.6.16"), false);
  });

  test("a drain takes one at a time, and never the quorum", () => {
    assert.deepEqual(
      [1, 2, 3, 4, 5, 6, 7].map((n) => minAvailable(n, 1)),
      [1, 2, 2, 3, 4, 5, 6],
    );
    assert.equal(minAvailable(3, 5), 4, "as many are counted as there will be");
  });
});
