// How long volumes live: when members are scaled away, when the EtcdCluster is deleted, and when another of its name is made.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster, type EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { PersistentVolumeClaim } from "../../../src/kube/objects/kinds.ts";
import { clusterwide, createCluster, type TestCluster } from "../../e2e/support/cluster.ts";
import { kube, patience, patiently, restrictedNamespace } from "../../e2e/support/environment.ts";
import type { HealthyCluster } from "../../e2e/support/healthy.ts";
import { IdentityWatch } from "../../e2e/proofs/identity-watch.ts";
import { lane } from "../../e2e/support/lane.ts";
import { onlyReplaced } from "../../e2e/proofs/replaced.ts";
import { conditionOf } from "../../e2e/support/status.ts";
import { Writer } from "../../e2e/proofs/writer.ts";
import { isMatrix } from "../../support/matrix.ts";
import { sameMembers } from "../support/returned.ts";
import { claimNames, claimsOf, onVolumes, uidOf, untilClaims, untilEachClaim } from "../support/volumes.ts";

const namesOf = ({ members }: HealthyCluster): string[] => members.map(({ name }) => name);

export function retention(): void {
  describe("members that are scaled away", { concurrency: 1 }, () => {
    const on = lane("scaled", { size: 3, pod: onVolumes(), volumeRetention: { whenMemberRemoved: "Retain" } });

    test("3, 4, 3, 4 with whenMemberRemoved Retain: their volumes are kept, and never used again", async () => {
      const { cluster, writer, first } = on();
      await using identity = new IdentityWatch(cluster, first.clusterId);
      const four = await scaled(cluster, 4);
      await untilClaims(cluster, { current: namesOf(four), retired: [] });
      const three = await scaled(cluster, 3);
      const retired = leftOut(four, three);
      await untilClaims(cluster, { current: namesOf(three), retired });
      const again = await scaled(cluster, 4);
      assert.ok(namesOf(again).every((name) => !retired.includes(name)));
      await untilClaims(cluster, { current: namesOf(again), retired });
      keptAll(three, again);
      await writer.nothingIsLost();
      await identity.neverViolated();
    });

    test("4, 3, 4 with whenMemberRemoved Delete: their volumes are deleted, and those kept before stay", async () => {
      const { cluster, writer, first } = on();
      await cluster.edit({ volumeRetention: { whenMemberRemoved: "Delete" } });
      const four = await cluster.untilHealthy();
      const { retired } = claimNames(await claimsOf(cluster));
      await using identity = new IdentityWatch(cluster, first.clusterId);
      const three = await scaled(cluster, 3);
      keptAll(three, four);
      await untilClaims(cluster, { current: namesOf(three), retired });
      const again = await scaled(cluster, 4);
      await untilClaims(cluster, { current: namesOf(again), retired });
      keptAll(three, again);
      await writer.nothingIsLost();
      await identity.neverViolated();
    });
  });

  describe("an EtcdCluster that is deleted", { concurrency: 1 }, () => {
    const spec: EtcdClusterSpec = { size: 3, pod: onVolumes() };
    const on = lane("remade", spec);

    test("with whenClusterDeleted Retain leaves its volumes, and another of its name goes on with them", async () => {
      const { cluster, writer, first } = on();
      await writer.progress(50);
      const claims = await claimsOf(cluster);
      await deleteCluster(cluster);
      const left = await claimsOf(cluster);
      assert.deepEqual(left.map(uidOf), claims.map(uidOf));
      await untilClaims(cluster, { current: namesOf(first), retired: [] });
      await createCluster(cluster.key, spec, clusterwide);
      const after = await cluster.untilHealthy();
      sameMembers(first, after);
      await cluster.untilEvent("Volume Adopted");
      assert.deepEqual((await claimsOf(cluster)).map(uidOf), claims.map(uidOf));
      await writer.nothingIsLost();
    });

    if (!isMatrix) return;

    test("and the one that goes on with them gets the version and the size that it asks for", async () => {
      const { cluster, writer, first } = on();
      await deleteCluster(cluster);
      await createCluster(cluster.key, { ...spec, size: 5, version: "3.7.3" }, clusterwide);
      const after = await cluster.untilHealthy();
      assert.equal(after.clusterId, first.clusterId);
      for (const { name, id } of first.members) assert.equal(after.members.find((one) => one.name === name)?.id, id);
      for (const { etcd } of after.members) assert.equal((await etcd.status(patiently)).version, "3.7.3");
      await writer.nothingIsLost();
    });
  });

  describe("volumes of more than one cluster", { concurrency: 1 }, () => {
    test("stop a new one until the wrong ones are deleted; with whenClusterDeleted Delete they go with it", async () => {
      const namespace = await restrictedNamespace("two");
      const key = { namespace, name: "two" };
      const spec: EtcdClusterSpec = { size: 1, pod: onVolumes() };
      const cluster = await createCluster(key, spec, clusterwide);
      const first = await cluster.untilHealthy();
      const writer = new Writer(cluster);
      try {
        await writer.progress(50);
        // It would write to the second one, which is deleted for good below.
        await writer.stop();
        await deleteCluster(cluster);
        // Nobody finds it now, so that the next cluster of the name starts empty.
        const [mine] = first.members;
        assert.ok(mine);
        await labelled(key.namespace, mine.name, null);
        await createCluster(key, spec, clusterwide);
        const second = await untilAnother(cluster, first);
        await deleteCluster(cluster);
        await labelled(key.namespace, mine.name, key.name);
        await createCluster(key, spec, clusterwide);
        const reported = await cluster.until(
          "Ready is VolumesLeft",
          (seen) => conditionOf(seen, "Ready")?.reason === "VolumesLeft",
        );
        const [other] = second.members;
        assert.ok(other);
        const { message = "" } = conditionOf(reported, "Ready") ?? {};
        assert.match(message, /Volumes of several earlier clusters of this name are there/);
        for (const { name } of [mine, other]) assert.ok(message.includes(name), message);
        await cluster.untilEvent("Volumes Left");
        assert.deepEqual(await cluster.pods(), []);
        await kube.delete(PersistentVolumeClaim, { namespace, name: other.name });
        sameMembers(first, await cluster.untilHealthy());
        assert.deepEqual(await writer.complaints(), []);

        await cluster.edit({ volumeRetention: { whenClusterDeleted: "Delete" } });
        await untilEachClaim(cluster, "claims that are owned", (claims) =>
          claims.every(({ metadata }) => (metadata?.ownerReferences ?? []).length === 1),
        );
        await kube.delete(EtcdCluster, key);
        await untilClaims(cluster, { current: [], retired: [] });
      } finally {
        await writer.stop();
      }
    });
  });
}

async function scaled(cluster: TestCluster, size: number): Promise<HealthyCluster> {
  await cluster.scale(size);
  return cluster.untilHealthy();
}

const leftOut = (before: HealthyCluster, after: HealthyCluster): string[] =>
  namesOf(before).filter((name) => !namesOf(after).includes(name));

/** Those of before are there still, in their pods. */
function keptAll(before: HealthyCluster, after: HealthyCluster): void {
  const names = new Set(namesOf(before));
  onlyReplaced(before, { ...after, members: after.members.filter(({ name }) => names.has(name)) });
}

/** And waits for its pods to go. */
async function deleteCluster(cluster: TestCluster): Promise<void> {
  await kube.delete(EtcdCluster, cluster.key);
  await waitFor(
    `the pods of ${cluster.name} to be gone`,
    async () => (await cluster.pods()).length === 0 || undefined,
    { timeoutMs: patience },
  );
}

async function labelled(namespace: string, name: string, etcdCluster: string | null): Promise<void> {
  await kube.mergePatch(
    PersistentVolumeClaim,
    { namespace, name },
    { metadata: { labels: { etcd_cluster: etcdCluster } } },
  );
}

async function untilAnother(cluster: TestCluster, first: HealthyCluster): Promise<HealthyCluster> {
  const second = await cluster.untilHealthy();
  assert.notEqual(second.clusterId, first.clusterId);
  return second;
}
