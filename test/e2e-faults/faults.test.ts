// Faults in the middle: while a cluster is being repaired the API server stands still, or names cannot be looked up; or
// the leader itself stands still. Clients go on writing, and when the fault ends the cluster is whole by itself.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pauseContainer } from "../../lab/faults/containers.ts";
import { freezeApi, stopDns } from "../../lab/faults/control-plane.ts";
import { heal, resumeContainer, startDns, thawApi } from "../../lab/faults/undo.ts";
import { lab } from "../e2e/support/ground.ts";
import { deletePods } from "../e2e/support/harm.ts";
import { lane } from "../e2e/support/lane.ts";
import { installOperator } from "../e2e/support/operator.ts";
import { conditionOf } from "../e2e/support/status.ts";
import { isTakenOut, othersStay } from "../e2e/support/stay.ts";
import { followers, type WholeMember } from "../e2e/support/whole.ts";

const frozenMs = 20_000;

/** Through one member and without Kubernetes, for so long; a sentence for each write that failed or is not there. */
async function writesFor(ms: number, { etcd }: WholeMember, prefix: string): Promise<string[]> {
  const until = Date.now() + ms;
  const complaints: string[] = [];
  const written: string[] = [];
  for (let i = 1; Date.now() < until; i += 1) {
    const key = `${prefix}${i}`;
    try {
      await etcd.put(key, key, { deadline: 5_000 });
      written.push(key);
    } catch (error) {
      complaints.push(`${key}: ${error instanceof Error ? error.message : String(error)}`);
    }
    await pause(250);
  }
  const there = new Set((await etcd.list(prefix)).keys.map(({ key }) => key));
  if (written.length === 0) complaints.push("nothing could be written");
  return [...complaints, ...written.filter((key) => !there.has(key)).map((key) => `${key} is missing`)];
}

describe("a fault in the middle", { concurrency: 1 }, () => {
  before(async () => {
    await installOperator("clusterwide");
  });
  after(() => heal(lab));
  const on = lane("faults", { size: 3 });

  test("of a repair, an API server that stands still for 20 s, delays it and costs nothing", async () => {
    const { cluster, writer } = on();
    const whole = await cluster.whole();
    const [victim] = followers(whole);
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    await isTakenOut(whole, victim);
    await freezeApi(lab);
    const complaints = await writesFor(frozenMs, whole.leader, "/frozen/");
    await thawApi(lab);
    assert.deepEqual(complaints, []);
    othersStay(whole, await cluster.whole({ without: [victim.name] }), victim.name);
    await writer.nothingIsLost();
  });

  test("of a repair, DNS that goes away, delays it and costs nothing", async () => {
    const { cluster, writer } = on();
    const whole = await cluster.whole();
    const [victim] = followers(whole);
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    await isTakenOut(whole, victim);
    // The one that comes in its place has yet to look up the others.
    await stopDns(lab);
    // The others know each other's addresses already.
    await writer.progress(100);
    const { status } = await cluster.get();
    assert.notEqual(status?.ready, "3/3");
    await startDns(lab);
    othersStay(whole, await cluster.whole({ without: [victim.name] }), victim.name);
    await writer.nothingIsLost();
  });

  test("a leader that stands still is waited for, not replaced, while the others go on without it", async () => {
    const { cluster, writer } = on();
    const whole = await cluster.whole();
    const pod = `${cluster.namespace}/${whole.leader.name}`;
    await pauseContainer(lab, pod);
    // Before it, it may be told that they elect another.
    await cluster.until("it is told who does not answer", (cluster) => {
      const ready = conditionOf(cluster, "Ready");
      return ready?.status === "False" && ready.message?.includes(whole.leader.name) === true;
    });
    await writer.progress(30);
    await resumeContainer(lab, pod);
    othersStay(whole, await cluster.whole());
    await writer.nothingIsLost();
  });
});
