// Faults: the API server freezes or DNS fails while a member is being replaced, or the leader is paused. Clients keep writing,
// and the cluster is healthy again after the fault.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pauseContainer } from "../../lab/faults/containers.ts";
import { cacheDns, freezeApi, stopDns } from "../../lab/faults/control-plane.ts";
import { heal, noCacheDns, resumeContainer, startDns, thawApi } from "../../lab/faults/undo.ts";
import { lab, patiently } from "../e2e/support/environment.ts";
import { deletePods } from "../e2e/support/disruptions.ts";
import { lane } from "../e2e/support/lane.ts";
import { installOperator } from "../e2e/support/operator.ts";
import { conditionOf } from "../e2e/support/status.ts";
import { untilRemoved, onlyReplaced } from "../e2e/proofs/replaced.ts";
import { followers, type HealthyMember } from "../e2e/support/healthy.ts";

const frozenMs = 20_000;

/** Writes through one member, without Kubernetes; one sentence for each write that failed or is missing. */
async function writesFor(ms: number, { etcd }: HealthyMember, prefix: string): Promise<string[]> {
  const until = Date.now() + ms;
  const complaints: string[] = [];
  const written: string[] = [];
  for (let i = 1; Date.now() < until; i += 1) {
    const key = `${prefix}${i}`;
    try {
      await etcd.put(key, key, patiently);
      written.push(key);
    } catch (error) {
      complaints.push(`${key}: ${error instanceof Error ? error.message : String(error)}`);
    }
    await pause(250);
  }
  const there = new Set((await etcd.list(prefix, {}, patiently)).keys.map(({ key }) => key));
  if (written.length === 0) complaints.push("nothing could be written");
  return [...complaints, ...written.filter((key) => !there.has(key)).map((key) => `${key} is missing`)];
}

describe("faults", { concurrency: 1 }, () => {
  before(async () => {
    await installOperator("clusterwide");
  });
  after(() => heal(lab));
  const on = lane("faults", { size: 3 });

  test("an API server that freezes for 20 s during a replacement only delays it", async () => {
    const { cluster, writer } = on();
    const before = await cluster.untilHealthy();
    const [victim] = followers(before);
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    await untilRemoved(before, victim);
    await freezeApi(lab);
    const complaints = await writesFor(frozenMs, before.leader, "/frozen/");
    await thawApi(lab);
    assert.deepEqual(complaints, []);
    onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
    await writer.nothingIsLost();
  });

  test("a DNS outage during a replacement only delays it", async () => {
    const { cluster, writer } = on();
    const before = await cluster.untilHealthy();
    const [victim] = followers(before);
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    await untilRemoved(before, victim);
    // The new member has not resolved its peers yet.
    await stopDns(lab);
    // The other members are connected already.
    await writer.progress(100);
    // The status may still be that of before.
    await cluster.until("to miss a member", ({ status }) => status?.ready !== "3/3");
    await startDns(lab);
    onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
    await writer.nothingIsLost();
  });

  test("a member is replaced where DNS remembers that its name did not exist", async () => {
    const { cluster, writer } = on();
    const before = await cluster.untilHealthy();
    const [victim] = followers(before);
    assert.ok(victim);
    await cacheDns(lab);
    await deletePods(cluster, victim.name);
    onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
    await writer.nothingIsLost();
    await noCacheDns(lab);
  });

  test("a paused leader is not replaced, and the others go on without it", async () => {
    const { cluster, writer } = on();
    const before = await cluster.untilHealthy();
    const pod = `${cluster.namespace}/${before.leader.name}`;
    await pauseContainer(lab, pod);
    // Electing may be reported first.
    await cluster.until("Ready names the paused member", (cluster) => {
      const ready = conditionOf(cluster, "Ready");
      return ready?.status === "False" && ready.message?.includes(before.leader.name) === true;
    });
    await writer.progress(30);
    await resumeContainer(lab, pod);
    onlyReplaced(before, await cluster.untilHealthy());
    await writer.nothingIsLost();
  });
});
