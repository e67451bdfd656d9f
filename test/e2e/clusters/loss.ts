// Losing members: a minority is replaced; a lost quorum and lost data are reported, and nothing is started in their place.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { killContainer, pauseContainer } from "../../../lab/faults/containers.ts";
import { resumeContainer } from "../../../lab/faults/undo.ts";
import { waitFor } from "../../../lab/progress.ts";
import { PodDisruptionBudget, Service } from "../../../src/kube/objects/kinds.ts";
import { lab, patience } from "../support/environment.ts";
import { deletePods, removeByHand, corruptLog, deleteObject } from "../support/disruptions.ts";
import { lane } from "../support/lane.ts";
import { whilePaused } from "../support/paused.ts";
import { QuorumWatch } from "../proofs/quorum-watch.ts";
import { conditionOf } from "../support/status.ts";
import { untilRemoved, onlyReplaced } from "../proofs/replaced.ts";
import { followers } from "../support/healthy.ts";
import { matrixTest } from "../../support/matrix.ts";

export function loss(): void {
  describe("loss", { concurrency: 1 }, () => {
    describe("a minority", { concurrency: 1 }, () => {
      const on = lane("minority", { size: 5, failover: { crashLoopAfterSeconds: 5 } });

      // The next one loses two of five, too.
      matrixTest("two pods of five that are deleted at once are both replaced", async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        const victims = before.members.slice(0, 2).map(({ name }) => name);
        await deletePods(cluster, ...victims);
        onlyReplaced(before, await cluster.untilHealthy({ without: victims }), ...victims);
        await writer.nothingIsLost();
      });

      test("a deleted pod, a removed member, a deleted Service and a deleted budget at once are all repaired", async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        const [deleted, removed] = followers(before);
        assert.ok(deleted && removed);
        // First, because etcd may refuse it for some seconds.
        await removeByHand(cluster, removed, before.leader);
        const [service, budget] = await Promise.all([
          deleteObject(Service, { ...cluster.key, name: `${cluster.name}-client` }),
          deleteObject(PodDisruptionBudget, cluster.key),
          deletePods(cluster, deleted.name),
        ]);
        const gone = [deleted.name, removed.name];
        onlyReplaced(before, await cluster.untilHealthy({ without: gone }), ...gone);
        await service();
        await budget();
        await writer.nothingIsLost();
      });

      test("a member that is paused while another is replaced neither blocks that nor is replaced itself", async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        const [victim, paused] = followers(before);
        assert.ok(victim && paused);
        const pod = `${cluster.namespace}/${paused.name}`;
        await deletePods(cluster, victim.name);
        await untilRemoved(before, victim);
        await pauseContainer(lab, pod);
        let seen = "";
        // 3 of 4 voters are alive: quorum(4) = 3, so etcd admits a new member.
        await waitFor(
          "five voters, one of them paused",
          async () => {
            const { members } = await before.leader.etcd.memberList({ linearizable: true }, { deadline: 2_000 });
            seen = members.map(({ id, name, learner }) => `${name || id}${learner ? " (learner)" : ""}`).join(", ");
            const voters = members.filter(({ name, learner }) => name !== "" && !learner);
            return (voters.length === 5 && voters.some(({ id }) => id === paused.id)) || undefined;
          },
          { timeoutMs: patience, lastSeen: () => seen },
        );
        await writer.progress();
        await resumeContainer(lab, pod);
        onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
        await writer.nothingIsLost();
      });

      test("a member that crashes at every start is replaced", async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        const [victim] = followers(before);
        assert.ok(victim);
        await corruptLog(cluster, victim.name);
        await killContainer(lab, `${cluster.namespace}/${victim.name}`);
        onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
        await cluster.untilEvent("Member Removed", ({ note }) => note?.includes("keeps exiting") ?? false);
        await writer.nothingIsLost();
      });
    });

    describe("the quorum, and everything", { concurrency: 1 }, () => {
      const on = lane("quorum", { size: 3 });

      test("two of three paused members are reported as QuorumLost, and the cluster recovers when they resume", async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        // The tests of scaling rely on this watch, so it must see a real loss.
        await using watch = new QuorumWatch(cluster);
        const paused = before.members.slice(0, 2).map(({ name }) => `${cluster.namespace}/${name}`);
        await whilePaused(paused, async () => {
          const advice =
            /^[01] of 3 voters answer, .* continues by itself as soon as enough of its pods run again: find out what keeps/;
          const lost = await cluster.until("Available is QuorumLost, with what to do", (cluster) => {
            const { reason, message = "" } = conditionOf(cluster, "Available") ?? {};
            return reason === "QuorumLost" && advice.test(message);
          });
          for (const type of ["Available", "Ready"]) {
            assert.equal(conditionOf(lost, type)?.status, "False");
            assert.match(conditionOf(lost, type)?.message ?? "", advice);
          }
          assert.equal(lost.status?.phase, "Running", "it may come back by itself");
          // A busy machine may have lost the quorum for a moment before, with other numbers.
          const event = await cluster.untilEvent("Quorum Lost", ({ note = "" }) => advice.test(note));
          assert.equal(event.type, "Warning");
          await waitFor(
            "the watch to see the lost quorum",
            async () => (watch.shortfalls.length > 0 ? true : undefined),
            {
              timeoutMs: patience,
            },
          );
        });
        onlyReplaced(before, await cluster.untilHealthy());
        await writer.nothingIsLost();
        await assert.rejects(watch.alwaysQuorum(), /did not answer/);
      });

      test("when all pods are deleted at once, DataLost is reported and no new cluster is started in its place", async () => {
        const { cluster, writer } = on();
        const first = await cluster.untilHealthy();
        await writer.progress();
        await writer.stop();
        await deletePods(cluster, ...first.members.map(({ name }) => name));
        const lost = await cluster.until("phase is Failed", ({ status }) => status?.phase === "Failed");
        assert.equal(lost.status?.clusterId, first.clusterId);
        const advice =
          /cannot come back by itself\. No EtcdBackup of this cluster .* with an EtcdRestore, or delete the EtcdCluster/;
        for (const type of ["Available", "Ready"]) {
          assert.equal(conditionOf(lost, type)?.reason, "DataLost");
          assert.match(conditionOf(lost, type)?.message ?? "", advice);
        }
        assert.match(lost.status?.reason ?? "", advice);
        const event = await cluster.untilEvent("Data Lost", ({ note = "" }) => advice.test(note));
        assert.equal(event.type, "Warning");
        // An edit triggers another reconcile; observedGeneration shows that it ran.
        await cluster.edit({ size: 5 });
        const later = await cluster.untilObserved();
        assert.equal(later.status?.phase, "Failed");
        assert.equal(later.status?.clusterId, first.clusterId);
        const pods = (await cluster.pods()).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
        assert.deepEqual(pods, []);
      });
    });
  });
}
