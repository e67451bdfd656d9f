// Healing: whatever happens to a minority of the pods or to the member list, the cluster gets healthy again, with the same
// cluster id and all data.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { killContainer } from "../../../lab/faults/containers.ts";
import { waitFor } from "../../../lab/progress.ts";
import { version } from "../../../src/etcd/versions/version.ts";
import type { Event } from "../../../src/kube/objects/kinds.ts";
import { ClientServiceWatch } from "../proofs/client-service-watch.ts";
import {
  addByHand,
  createOrphanPod,
  deletePods,
  evictPods,
  failPod,
  removeByHand,
  whileKubeletIsPaused,
} from "../support/disruptions.ts";
import type { TestCluster } from "../support/cluster.ts";
import { lab, patience } from "../support/environment.ts";
import { lane } from "../support/lane.ts";
import { onlyReplaced } from "../proofs/replaced.ts";
import { followers } from "../support/healthy.ts";
import { matrixTest } from "../../support/matrix.ts";

export function healing(): void {
  describe("healing", { concurrency: 1 }, () => {
    const on = lane("healing", { size: 3 });

    test("a leader whose pod is deleted hands over before it is removed", async () => {
      const { cluster, writer } = on();
      // The first test: moves of before would only count in the series of an event, which is sent once a minute.
      // On a busy machine etcd may elect another one first: then there is nothing to hand over, and the next one is deleted.
      let tries = 3;
      while (!(await handsOver(cluster))) assert.ok((tries -= 1) > 0, "no leader was moved");
      await writer.nothingIsLost();
    });

    test("a pod that is deleted is replaced by a new member, and meanwhile every ready endpoint of the client Service answers", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      // With this many entries a new member is sent a snapshot, after which its client port may be deaf for seconds.
      for (let i = 0; i < 200; i += 1) await before.leader.etcd.put("/readiness", String(i));
      await using watch = new ClientServiceWatch(cluster);
      const [victim] = followers(before);
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      const after = await cluster.untilHealthy({ without: [victim.name] });
      onlyReplaced(before, after, victim.name);
      await watch.allAnswered(after.members.map(({ name }) => name));
      await cluster.untilEvent("Replacing Dead Member", ({ note }) => note?.includes(victim.name) ?? false);
      await writer.nothingIsLost();
    });

    test("a failed pod that nobody deleted is replaced", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const [victim] = followers(before);
      assert.ok(victim);
      await failPod(cluster, victim.name);
      onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
      const ended = `${victim.name} removed from the cluster: its pod has ended (DeadlineExceeded`;
      await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(ended) ?? false);
      await writer.nothingIsLost();
    });

    test("an evicted pod is replaced, and a second eviction has to wait for that", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const [first, second] = before.members;
      assert.ok(first && second);
      // Both at the same moment: on a busy machine the first one may be replaced before the second is asked for.
      const { evicted, refusals } = await waitFor(
        "the budget to allow an eviction",
        async () => {
          const asked = await evictPods(cluster, [first.name, second.name]);
          return asked.evicted.length > 0 ? asked : undefined;
        },
        { timeoutMs: patience },
      );
      assert.equal(evicted.length, 1, "the budget allows one at a time");
      assert.match(String(refusals[0]), /disruption budget/);
      onlyReplaced(before, await cluster.untilHealthy({ without: evicted }), ...evicted);
      await writer.nothingIsLost();
    });

    test("a container that crashes restarts in place as the same member", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const [victim] = before.members;
      assert.ok(victim);
      await killContainer(lab, `${cluster.namespace}/${victim.name}`);
      const after = await waitFor(
        "the container to be restarted",
        async () => {
          const now = await cluster.untilHealthy();
          return now.members.some(({ name, restarts }) => name === victim.name && restarts > victim.restarts)
            ? now
            : undefined;
        },
        { timeoutMs: patience },
      );
      onlyReplaced(before, after);
      await writer.nothingIsLost();
    });

    // loss.ts removes one by hand, too.
    matrixTest("a member that was removed by hand is replaced, and its pod is deleted", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const [victim] = followers(before);
      assert.ok(victim);
      await removeByHand(cluster, victim, before.leader);
      onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
      await writer.nothingIsLost();
    });

    test("members that were added by hand, as learner and as voter, are removed again", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      // In this order: etcd admits no further member while a voter is missing.
      const unknown = [
        { as: "learner", peerUrls: ["http://elsewhere.example:2380"], oldestServer: version("3.6.0") },
        { as: "voter", peerUrls: ["http://elsewhere-too.example:2380"] },
      ] as const;
      const ids: string[] = [];
      for (const member of unknown) {
        const { learner, id } = await addByHand(before.leader, member);
        assert.equal(learner, member.as === "learner");
        ids.push(id);
      }
      for (const id of ids) await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(id) ?? false);
      onlyReplaced(before, await cluster.untilHealthy());
      await writer.nothingIsLost();
    });

    // src/cluster/crashes.test.ts ends an operator after each of its writes.
    matrixTest("a listed member without a pod gets its pod", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const [leaving] = followers(before);
      assert.ok(leaving);
      // While paused, etcd is put into the state of an operator that crashed between adding the member and creating its pod.
      await cluster.edit({ paused: true });
      await cluster.until("it is paused", ({ status }) => status?.controlPaused === true);
      // etcd refuses while connections between members are younger than five seconds.
      await waitFor(
        "etcd to remove the member",
        async () => {
          const { members } = await before.leader.etcd.memberList({ linearizable: true });
          const listed = members.find(({ name }) => name === leaving.name);
          if (listed !== undefined) await before.leader.etcd.memberRemove(listed.id);
          return true;
        },
        { timeoutMs: patience, everyMs: 1_000 },
      );
      const name = `${cluster.name}-bcdfghjklm`;
      const peerUrls = [`http://${name}.${cluster.name}.${cluster.namespace}.svc:2380`];
      await addByHand(before.leader, { as: "learner", peerUrls, oldestServer: version("3.6.0") });
      await cluster.edit({ paused: false });
      const after = await cluster.untilHealthy({ without: [leaving.name] });
      assert.ok(after.members.some((member) => member.name === name));
      onlyReplaced(before, after, leaving.name);
      await writer.nothingIsLost();
    });

    matrixTest("a pod without a member is deleted", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const name = await createOrphanPod(cluster);
      onlyReplaced(before, await cluster.untilHealthy({ without: [name] }));
      await cluster.untilEvent("Pod Deleted", ({ note }) => note?.includes(name) ?? false);
      await writer.nothingIsLost();
    });
  });
}

/** Deletes the pod of the leader, and tells whether the operator moved its leadership, which must come before the removal. */
async function handsOver(cluster: TestCluster): Promise<boolean> {
  const before = await cluster.untilHealthy();
  const { leader } = before;
  const known = new Set((await cluster.events()).map(({ metadata }) => metadata?.uid));
  const moved = async (): Promise<Event | undefined> =>
    (await cluster.events()).find(({ reason, metadata }) => reason === "Leader Moved" && !known.has(metadata?.uid));
  let isMoved = false;
  await whileKubeletIsPaused(leader.node, async () => {
    await deletePods(cluster, leader.name);
    const removed = await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(leader.name) ?? false);
    const first = await moved();
    isMoved = first !== undefined;
    if (first === undefined) return;
    assert.ok(first.eventTime && removed.eventTime && first.eventTime < removed.eventTime, "leadership moved first");
    const others = new Set(followers(before).map(({ id }) => id));
    await waitFor(
      "another member to lead",
      async () => {
        const { leader: leads } = (await followers(before)[0]?.etcd.status()) ?? {};
        return (leads !== undefined && others.has(leads)) || undefined;
      },
      { timeoutMs: patience },
    );
  });
  onlyReplaced(before, await cluster.untilHealthy({ without: [leader.name] }), leader.name);
  return isMoved;
}
