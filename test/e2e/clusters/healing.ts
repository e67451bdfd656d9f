// Healing: whatever becomes of a minority of the pods, or of the list of members, the cluster is whole again, with the
// same id and all of its data.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { killContainer } from "../../../lab/faults/containers.ts";
import { waitFor } from "../../../lab/progress.ts";
import { version } from "../../../src/etcd/versions/version.ts";
import { ClientServiceWatch } from "../support/client-service-watch.ts";
import {
  deletePods,
  evictPod,
  failPod,
  podOfNoMember,
  removeByHand,
  whileKubeletStandsStill,
} from "../support/harm.ts";
import { lab, patience } from "../support/ground.ts";
import { lane } from "../support/lane.ts";
import { othersStay } from "../support/stay.ts";
import { followers } from "../support/whole.ts";

export function healing(): void {
  describe("healing", { concurrency: 1 }, () => {
    const on = lane("healing", { size: 3 });

    test("a pod that is deleted is replaced by a new member", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const [victim] = followers(before);
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      othersStay(before, await cluster.whole({ without: [victim.name] }), victim.name);
      await cluster.untilEvent("Replacing Dead Member", ({ note }) => note?.includes(victim.name) ?? false);
      await writer.nothingIsLost();
    });

    test("while a lost member is replaced, the client Service sends nobody to a member that does not answer", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      // From so many entries on a newcomer gets a snapshot, and may be deaf to clients for seconds after that.
      for (let i = 0; i < 200; i += 1) await before.leader.etcd.put("/readiness", String(i));
      await using watch = new ClientServiceWatch(cluster);
      const [victim] = followers(before);
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      const after = await cluster.whole({ without: [victim.name] });
      othersStay(before, after, victim.name);
      await watch.allAnswered(after.members.map(({ name }) => name));
      await writer.nothingIsLost();
    });

    test("a leader whose pod is deleted hands over to one of the others before it is replaced", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const { leader } = before;
      const [other] = followers(before);
      assert.ok(other);
      await whileKubeletStandsStill(leader.node, async () => {
        await deletePods(cluster, leader.name);
        const moved = await cluster.untilEvent("Leader Moved");
        const taken = await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(leader.name) ?? false);
        assert.ok(moved.eventTime && taken.eventTime && moved.eventTime < taken.eventTime, "it handed over first");
        const heir = (await other.etcd.status()).leader;
        assert.ok(
          followers(before).some(({ id }) => id === heir),
          `${heir} leads`,
        );
      });
      othersStay(before, await cluster.whole({ without: [leader.name] }), leader.name);
      await writer.nothingIsLost();
    });

    test("a pod that has failed and that nobody deleted is replaced", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const [victim] = followers(before);
      assert.ok(victim);
      await failPod(cluster, victim.name);
      othersStay(before, await cluster.whole({ without: [victim.name] }), victim.name);
      const ended = `${victim.name} removed from the cluster: its pod has ended (DeadlineExceeded`;
      await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(ended) ?? false);
      await writer.nothingIsLost();
    });

    test("a pod that is evicted is replaced, and a second eviction waits for that", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const [first, second] = before.members;
      assert.ok(first && second);
      await waitFor("the budget to allow an eviction", () => evictPod(cluster, first.name), { timeoutMs: patience });
      await assert.rejects(evictPod(cluster, second.name), /disruption budget/);
      othersStay(before, await cluster.whole({ without: [first.name] }), first.name);
      await writer.nothingIsLost();
    });

    test("a container that crashes restarts in place as the same member", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const [victim] = before.members;
      assert.ok(victim);
      await killContainer(lab, `${cluster.namespace}/${victim.name}`);
      const after = await waitFor(
        "the container to have been started again",
        async () => {
          const whole = await cluster.whole();
          return whole.members.some(({ name, restarts }) => name === victim.name && restarts > victim.restarts)
            ? whole
            : undefined;
        },
        { timeoutMs: patience },
      );
      othersStay(before, after);
      await writer.nothingIsLost();
    });

    test("a member that was removed by hand is replaced, and its pod goes", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const [victim] = followers(before);
      assert.ok(victim);
      await removeByHand(cluster, victim, before.leader);
      othersStay(before, await cluster.whole({ without: [victim.name] }), victim.name);
      await writer.nothingIsLost();
    });

    test("members that were added by hand, without a vote and with one, are taken out again", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const { etcd } = before.leader;
      // In this order: a voter that never comes is one that etcd would miss when it is asked for another member.
      const strangers = [
        { as: "learner", peerUrls: ["http://elsewhere.example:2380"], oldestServer: version("3.6.0") },
        { as: "voter", peerUrls: ["http://elsewhere-too.example:2380"] },
      ] as const;
      const taken: string[] = [];
      for (const stranger of strangers) {
        const added = await waitFor("etcd to take a member", () => etcd.memberAdd(stranger), { timeoutMs: patience });
        assert.equal(added.member.learner, stranger.as === "learner");
        taken.push(added.member.id);
      }
      for (const id of taken) await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(id) ?? false);
      othersStay(before, await cluster.whole());
      await writer.nothingIsLost();
    });

    test("a member that etcd lists and that has no pod gets that very pod", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const [leaving] = followers(before);
      assert.ok(leaving);
      // While nobody interferes, etcd is left as an operator leaves it that dies between two steps.
      await cluster.edit({ paused: true });
      await cluster.until("it is paused", ({ status }) => status?.controlPaused === true);
      const { members } = await before.leader.etcd.memberList({ linearizable: true });
      const id = members.find((member) => member.name === leaving.name)?.id;
      assert.ok(id);
      await before.leader.etcd.memberRemove(id);
      const name = `${cluster.name}-bcdfghjklm`;
      const peerUrls = [`http://${name}.${cluster.name}.${cluster.namespace}.svc:2380`];
      await waitFor(
        "etcd to take a member",
        () => before.leader.etcd.memberAdd({ as: "learner", peerUrls, oldestServer: version("3.6.0") }),
        { timeoutMs: patience },
      );
      await cluster.edit({ paused: false });
      const after = await cluster.whole({ without: [leaving.name] });
      assert.ok(after.members.some((member) => member.name === name));
      othersStay(before, after, leaving.name);
      await writer.nothingIsLost();
    });

    test("a pod that belongs to no member is deleted", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const name = await podOfNoMember(cluster);
      othersStay(before, await cluster.whole({ without: [name] }));
      await cluster.untilEvent("Pod Deleted", ({ note }) => note?.includes(name) ?? false);
      await writer.nothingIsLost();
    });
  });
}
