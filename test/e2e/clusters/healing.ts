// Healing: whatever happens to a minority of the pods or to the member list, the cluster gets healthy again, with the same
// cluster id and all data.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { killContainer } from "../../../lab/faults/containers.ts";
import { waitFor } from "../../../lab/progress.ts";
import { version } from "../../../src/etcd/versions/version.ts";
import { ClientServiceWatch } from "../proofs/client-service-watch.ts";
import {
  deletePods,
  evictPod,
  failPod,
  createOrphanPod,
  removeByHand,
  whileKubeletIsPaused,
} from "../support/disruptions.ts";
import { lab, patience, patiently } from "../support/environment.ts";
import { lane } from "../support/lane.ts";
import { onlyReplaced } from "../proofs/replaced.ts";
import { followers } from "../support/healthy.ts";

export function healing(): void {
  describe("healing", { concurrency: 1 }, () => {
    const on = lane("healing", { size: 3 });

    test("a pod that is deleted is replaced by a new member", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const [victim] = followers(before);
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
      await cluster.untilEvent("Replacing Dead Member", ({ note }) => note?.includes(victim.name) ?? false);
      await writer.nothingIsLost();
    });

    test("while a lost member is replaced, every ready endpoint of the client Service answers", async () => {
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
      await writer.nothingIsLost();
    });

    test("a leader whose pod is deleted hands over before it is removed", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const { leader } = before;
      const [other] = followers(before);
      assert.ok(other);
      await whileKubeletIsPaused(leader.node, async () => {
        await deletePods(cluster, leader.name);
        const moved = await cluster.untilEvent("Leader Moved");
        const removed = await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(leader.name) ?? false);
        assert.ok(
          moved.eventTime && removed.eventTime && moved.eventTime < removed.eventTime,
          "leadership moved first",
        );
        const transferee = (await other.etcd.status(patiently)).leader;
        assert.ok(
          followers(before).some(({ id }) => id === transferee),
          `${transferee} leads`,
        );
      });
      onlyReplaced(before, await cluster.untilHealthy({ without: [leader.name] }), leader.name);
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
      await waitFor("the budget to allow an eviction", () => evictPod(cluster, first.name), { timeoutMs: patience });
      await assert.rejects(evictPod(cluster, second.name), /disruption budget/);
      onlyReplaced(before, await cluster.untilHealthy({ without: [first.name] }), first.name);
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

    test("a member that was removed by hand is replaced, and its pod is deleted", async () => {
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
      const { etcd } = before.leader;
      // In this order: etcd admits no further member while a voter is missing.
      const unknown = [
        { as: "learner", peerUrls: ["http://elsewhere.example:2380"], oldestServer: version("3.6.0") },
        { as: "voter", peerUrls: ["http://elsewhere-too.example:2380"] },
      ] as const;
      const ids: string[] = [];
      for (const member of unknown) {
        const added = await waitFor("etcd to admit the member", () => etcd.memberAdd(member), { timeoutMs: patience });
        assert.equal(added.member.learner, member.as === "learner");
        ids.push(added.member.id);
      }
      for (const id of ids) await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(id) ?? false);
      onlyReplaced(before, await cluster.untilHealthy());
      await writer.nothingIsLost();
    });

    test("a listed member without a pod gets its pod", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const [leaving] = followers(before);
      assert.ok(leaving);
      // While paused, etcd is put into the state of an operator that crashed between adding the member and creating its pod.
      await cluster.edit({ paused: true });
      await cluster.until("it is paused", ({ status }) => status?.controlPaused === true);
      const { members } = await before.leader.etcd.memberList({ linearizable: true });
      const id = members.find((member) => member.name === leaving.name)?.id;
      assert.ok(id);
      // etcd refuses while connections between members are younger than five seconds.
      await waitFor(
        "etcd to remove the member",
        async () => {
          const { members: listed } = await before.leader.etcd.memberList({ linearizable: true });
          if (listed.some((member) => member.id === id)) await before.leader.etcd.memberRemove(id);
          return true;
        },
        { timeoutMs: patience, everyMs: 1_000 },
      );
      const name = `${cluster.name}-bcdfghjklm`;
      const peerUrls = [`http://${name}.${cluster.name}.${cluster.namespace}.svc:2380`];
      await waitFor(
        "etcd to admit the member",
        () => before.leader.etcd.memberAdd({ as: "learner", peerUrls, oldestServer: version("3.6.0") }),
        { timeoutMs: patience },
      );
      await cluster.edit({ paused: false });
      const after = await cluster.untilHealthy({ without: [leaving.name] });
      assert.ok(after.members.some((member) => member.name === name));
      onlyReplaced(before, after, leaving.name);
      await writer.nothingIsLost();
    });

    test("a pod without a member is deleted", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const name = await createOrphanPod(cluster);
      onlyReplaced(before, await cluster.untilHealthy({ without: [name] }));
      await cluster.untilEvent("Pod Deleted", ({ note }) => note?.includes(name) ?? false);
      await writer.nothingIsLost();
    });
  });
}
