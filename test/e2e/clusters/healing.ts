// Healing: whatever becomes of a minority of the pods, or of the list of members, the cluster is whole again, with the
// same id and all of its data.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { killContainer } from "../../../lab/faults/containers.ts";
import { waitFor } from "../../../lab/progress.ts";
import { version } from "../../../src/etcd/versions/version.ts";
import { kubectl } from "../../support/kubectl.ts";
import { deletePods, evictPod, podOfNoMember } from "../support/harm.ts";
import { lab, patience } from "../support/ground.ts";
import { lane } from "../support/lane.ts";

const ids = (members: readonly { readonly id: string }[]): string[] => members.map(({ id }) => id).toSorted();

export function healing(): void {
  describe("healing", { concurrency: 1 }, () => {
    const on = lane("healing", { size: 3 });

    test("a pod that is deleted is replaced by a new member", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const [, victim] = before.members;
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      const after = await cluster.whole({ without: [victim.name] });
      assert.equal(after.clusterId, before.clusterId);
      assert.ok(!ids(after.members).includes(victim.id));
      assert.equal(ids(after.members).filter((id) => ids(before.members).includes(id)).length, 2);
      await cluster.untilEvent("Replacing Dead Member", ({ note }) => note?.includes(victim.name) ?? false);
      await writer.nothingIsLost();
    });

    test("the leader's pod that is deleted is replaced, too", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      await deletePods(cluster, before.leader.name);
      const after = await cluster.whole({ without: [before.leader.name] });
      assert.equal(after.clusterId, before.clusterId);
      await writer.nothingIsLost();
    });

    test("a pod that is evicted is replaced, and a second eviction waits for that", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const [first, second] = before.members;
      assert.ok(first && second);
      await waitFor("the budget to allow an eviction", () => evictPod(cluster, first.name), { timeoutMs: patience });
      await assert.rejects(evictPod(cluster, second.name), /disruption budget/);
      const after = await cluster.whole({ without: [first.name] });
      assert.equal(after.clusterId, before.clusterId);
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
      assert.deepEqual(
        after.members.map(({ id, uid }) => ({ id, uid })),
        before.members.map(({ id, uid }) => ({ id, uid })),
      );
      await writer.nothingIsLost();
    });

    test("a member that was removed by hand is replaced, and its pod goes", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const victim = before.members.find(({ id }) => id !== before.leader.id);
      assert.ok(victim);
      const command = ["etcdctl", "member", "remove", victim.id];
      // It refuses while links between members are younger than five seconds.
      await waitFor(
        "etcd to let the member go",
        () => kubectl("exec", `--namespace=${cluster.namespace}`, before.leader.name, "--", ...command),
        { timeoutMs: patience, everyMs: 1_000 },
      );
      const after = await cluster.whole({ without: [victim.name] });
      assert.equal(after.clusterId, before.clusterId);
      assert.ok(!ids(after.members).includes(victim.id));
      await writer.nothingIsLost();
    });

    test("a member that was added by hand is taken out again", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const stranger = {
        as: "learner",
        peerUrls: ["http://elsewhere.example:2380"],
        oldestServer: version("3.6.0"),
      } as const;
      const added = await waitFor("etcd to take a member", () => before.leader.etcd.memberAdd(stranger), {
        timeoutMs: patience,
      });
      await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(added.member.id) ?? false);
      const after = await cluster.whole();
      assert.deepEqual(ids(after.members), ids(before.members));
      await writer.nothingIsLost();
    });

    test("a member that etcd lists and that has no pod gets that very pod", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const leaving = before.members.find(({ id }) => id !== before.leader.id);
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
      assert.equal(after.clusterId, before.clusterId);
      await writer.nothingIsLost();
    });

    test("a pod that belongs to no member is deleted", async () => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const name = await podOfNoMember(cluster);
      const after = await cluster.whole({ without: [name] });
      assert.deepEqual(ids(after.members), ids(before.members));
      await cluster.untilEvent("Pod Deleted", ({ note }) => note?.includes(name) ?? false);
      await writer.nothingIsLost();
    });
  });
}
