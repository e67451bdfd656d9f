// Loss: what is said and what is not done when more is gone than a cluster can spare.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { killContainer, pauseContainer } from "../../../lab/faults/containers.ts";
import { resumeContainer } from "../../../lab/faults/undo.ts";
import { waitFor } from "../../../lab/progress.ts";
import { PodDisruptionBudget, Service } from "../../../src/kube/objects/kinds.ts";
import { lab, patience } from "../support/ground.ts";
import { deletePods, removeByHand, spoilData, takeAway } from "../support/harm.ts";
import { lane } from "../support/lane.ts";
import { QuorumWatch } from "../support/quorum-watch.ts";
import { conditionOf } from "../support/status.ts";
import { isTakenOut, othersStay } from "../support/stay.ts";
import { followers } from "../support/whole.ts";

export function losing(): void {
  describe("losing", { concurrency: 1 }, () => {
    describe("a minority", { concurrency: 1 }, () => {
      const on = lane("minority", { size: 5, failover: { crashLoopAfterSeconds: 5 } });

      test("two pods of five that are deleted at once are both replaced", async () => {
        const { cluster, writer } = on();
        const before = await cluster.whole();
        const victims = before.members.slice(0, 2).map(({ name }) => name);
        await deletePods(cluster, ...victims);
        othersStay(before, await cluster.whole({ without: victims }), ...victims);
        await writer.nothingIsLost();
      });

      test("several harms at once are all put right, and whoever was not touched stays", async () => {
        const { cluster, writer } = on();
        const before = await cluster.whole();
        const [deleted, removed] = followers(before);
        assert.ok(deleted && removed);
        // etcd may refuse this for some seconds; all the others follow at once.
        await removeByHand(cluster, removed, before.leader);
        const [service, budget] = await Promise.all([
          takeAway(Service, { ...cluster.key, name: `${cluster.name}-client` }),
          takeAway(PodDisruptionBudget, cluster.key),
          deletePods(cluster, deleted.name),
        ]);
        const gone = [deleted.name, removed.name];
        othersStay(before, await cluster.whole({ without: gone }), ...gone);
        await service();
        await budget();
        await writer.nothingIsLost();
      });

      test("one that stands still while another is replaced neither stops that nor is replaced itself", async () => {
        const { cluster, writer } = on();
        const before = await cluster.whole();
        const [victim, still] = followers(before);
        assert.ok(victim && still);
        const pod = `${cluster.namespace}/${still.name}`;
        await deletePods(cluster, victim.name);
        await isTakenOut(before, victim);
        await pauseContainer(lab, pod);
        let seen = "";
        // Three of four decide, and are enough for another one to be let in.
        await waitFor(
          "five voters, of whom one stands still",
          async () => {
            const { members } = await before.leader.etcd.memberList({ linearizable: true }, { deadline: 2_000 });
            seen = members.map(({ id, name, learner }) => `${name || id}${learner ? " (learner)" : ""}`).join(", ");
            const voters = members.filter(({ name, learner }) => name !== "" && !learner);
            return (voters.length === 5 && voters.some(({ id }) => id === still.id)) || undefined;
          },
          { timeoutMs: patience, lastSeen: () => seen },
        );
        await writer.progress();
        await resumeContainer(lab, pod);
        othersStay(before, await cluster.whole({ without: [victim.name] }), victim.name);
        await writer.nothingIsLost();
      });

      test("a member that ends at every start is replaced", async () => {
        const { cluster, writer } = on();
        const before = await cluster.whole();
        const [victim] = followers(before);
        assert.ok(victim);
        await spoilData(cluster, victim.name);
        await killContainer(lab, `${cluster.namespace}/${victim.name}`);
        othersStay(before, await cluster.whole({ without: [victim.name] }), victim.name);
        await cluster.untilEvent("Member Removed", ({ note }) => note?.includes("keeps exiting") ?? false);
        await writer.nothingIsLost();
      });
    });

    describe("the quorum", () => {
      const on = lane("quorum", { size: 3 });

      test("two of three that stand still are said to be a lost quorum, and the cluster goes on with them", async () => {
        const { cluster, writer } = on();
        const before = await cluster.whole();
        // It is what tests of scaling rely on, so it has to see this.
        await using watch = new QuorumWatch(cluster);
        const paused = before.members.slice(0, 2).map(({ name }) => `${cluster.namespace}/${name}`);
        await Promise.all(paused.map((pod) => pauseContainer(lab, pod)));
        const lost = await cluster.until("the quorum is said to be lost", (cluster) => {
          return conditionOf(cluster, "Available")?.reason === "QuorumLost";
        });
        const advice =
          /^[01] of 3 voters answer, .* goes on by itself as soon as enough of its pods run again: see what keeps/;
        for (const type of ["Available", "Ready"]) {
          assert.equal(conditionOf(lost, type)?.status, "False");
          assert.match(conditionOf(lost, type)?.message ?? "", advice);
        }
        assert.equal(lost.status?.phase, "Running", "it may come back by itself");
        const event = await cluster.untilEvent("Quorum Lost");
        assert.equal(event.type, "Warning");
        assert.match(event.note ?? "", advice);
        await waitFor("the watch to see it", async () => (watch.shortfalls.length > 0 ? true : undefined), {
          timeoutMs: patience,
        });
        for (const pod of paused) await resumeContainer(lab, pod);
        othersStay(before, await cluster.whole());
        await writer.nothingIsLost();
        await assert.rejects(watch.neverTooFew(), /did not answer/);
      });
    });

    describe("everything", () => {
      const on = lane("all", { size: 3 });

      test("when all pods are deleted at once, that is said and no new cluster is started in its place", async () => {
        const { cluster, first, writer } = on();
        await writer.progress();
        await writer.stop();
        await deletePods(cluster, ...first.members.map(({ name }) => name));
        const lost = await cluster.until("the loss is said", ({ status }) => status?.phase === "Failed");
        assert.equal(lost.status?.clusterId, first.clusterId);
        const advice =
          /cannot come back by itself\. Restore it from a backup with an EtcdRestore, or delete the EtcdCluster/;
        for (const type of ["Available", "Ready"]) {
          assert.equal(conditionOf(lost, type)?.reason, "DataLost");
          assert.match(conditionOf(lost, type)?.message ?? "", advice);
        }
        assert.match(lost.status?.reason ?? "", advice);
        const event = await cluster.untilEvent("Data Lost");
        assert.equal(event.type, "Warning");
        assert.match(event.note ?? "", advice);
        // An edit makes the operator look again, and the answer to it shows that it did.
        await cluster.edit({ size: 5 });
        const later = await cluster.until("it has looked again", ({ metadata, status }) => {
          return status?.observedGeneration === metadata?.generation;
        });
        assert.equal(later.status?.phase, "Failed");
        assert.equal(later.status?.clusterId, first.clusterId);
        const pods = (await cluster.pods()).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
        assert.deepEqual(pods, []);
      });
    });
  });
}
