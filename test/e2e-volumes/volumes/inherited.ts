// Clusters of etcd-operator 0.9 with volumes: its manifest works unchanged, and a cluster that it made is taken over as it
// runs. It never used a volume twice; from now on members come back on theirs.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { killContainer } from "../../../lab/faults/containers.ts";
import { run } from "../../../lab/machine/command.ts";
import { claimLabel, clusterIdAnnotation, clusterUidAnnotation } from "../../../src/cluster/objects/claims.ts";
import { createInherited, handOver, inheritedVersion } from "../../e2e-rolls/support/inherited-cluster.ts";
import { TestCluster } from "../../e2e/support/cluster.ts";
import { deletePods } from "../../e2e/support/disruptions.ts";
import { lab, restrictedNamespace } from "../../e2e/support/environment.ts";
import { followers } from "../../e2e/support/healthy.ts";
import { laneOf } from "../../e2e/support/lane.ts";
import { RollWatch } from "../../e2e/proofs/roll-watch.ts";
import { ownNamespace } from "../../support/kubectl.ts";
import { onlyReturned, untilReturned } from "../support/returned.ts";
import { eachOnItsClaim, onVolumes, uidOf, untilClaims, untilEachClaim } from "../support/volumes.ts";

const manifest = `
apiVersion: "etcd.database.coreos.com/v1beta2"
kind: "EtcdCluster"
metadata:
  name: "example-etcd-cluster"
  annotations:
    etcd.database.coreos.com/scope: clusterwide
spec:
  size: 3
  version: "${inheritedVersion}"
  pod:
    persistentVolumeClaimSpec:
      storageClassName: standard
      accessModes:
      - ReadWriteOnce
      resources:
        requests:
          storage: 1Gi
`;

export function inherited(): void {
  describe("a manifest of etcd-operator 0.9 with volumes", { concurrency: 1 }, () => {
    const on = laneOf("example-etcd-cluster", async () => {
      const namespace = await restrictedNamespace("manifest");
      await run("kubectl", ["apply", `--namespace=${namespace}`, "--filename=-"], { input: manifest });
      return new TestCluster({ namespace, name: "example-etcd-cluster" });
    });

    test("works unchanged, and a deleted pod comes back as the same member", async () => {
      const { cluster, writer, first } = on();
      await eachOnItsClaim(cluster);
      const [victim] = followers(first);
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      onlyReturned(first, await untilReturned(cluster, first, victim.name), victim.name);
      await untilClaims(cluster, { current: first.members.map(({ name }) => name), retired: [] });
      await writer.nothingIsLost();
    });
  });

  describe("a cluster of etcd-operator 0.9 with volumes", { concurrency: 1 }, () => {
    const on = laneOf("inherited", async () => {
      // Its pods run as root, which the restricted profile forbids.
      const namespace = await ownNamespace("inherited");
      const { persistentVolumeClaimSpec } = onVolumes("1Gi", { storageClassName: "standard" });
      const cluster = await createInherited({ namespace, name: "inherited" }, 3, "random", persistentVolumeClaimSpec);
      await handOver(cluster);
      return cluster;
    });

    test("is taken over with its volumes: no pod is restarted or made, and the claims outlive the EtcdCluster from now on", async () => {
      const { cluster, writer, first } = on();
      await using roll = new RollWatch(cluster);
      const { metadata } = await cluster.get();
      const names = first.members.map(({ name }) => name);
      await untilClaims(cluster, { current: names, retired: [] });
      await untilEachClaim(cluster, "claims with notes", (claims) =>
        claims.every((claim) => {
          const { labels = {}, annotations = {}, ownerReferences = [] } = claim.metadata ?? {};
          const isNoted =
            annotations[clusterIdAnnotation] === first.clusterId && annotations[clusterUidAnnotation] === metadata?.uid;
          return isNoted && labels[claimLabel] === "current" && ownerReferences.length === 0;
        }),
      );
      await writer.progress(50);
      onlyReturned(first, await cluster.untilHealthy());
      await roll.madeNoPod(first);
      await writer.nothingIsLost();
    });

    test("whose pod is deleted, or has ended, comes back on its claim as the same member", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const claims = (await untilEachClaim(cluster, "claims", () => true)).map(uidOf);
      const [deleted, ended] = followers(before);
      assert.ok(deleted && ended);
      await deletePods(cluster, deleted.name);
      const back = await untilReturned(cluster, before, deleted.name);
      onlyReturned(before, back, deleted.name);
      // Its pods never restart a container.
      await killContainer(lab, `${cluster.namespace}/${ended.name}`);
      const after = await untilReturned(cluster, back, ended.name);
      onlyReturned(back, after, ended.name);
      assert.deepEqual((await untilEachClaim(cluster, "claims", () => true)).map(uidOf), claims);
      await writer.nothingIsLost();
    });

    test("all of whose pods are deleted comes back with every key", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const names = before.members.map(({ name }) => name);
      await deletePods(cluster, ...names);
      onlyReturned(before, await untilReturned(cluster, before, ...names), ...names);
      await writer.nothingIsLost();
    });
  });
}
