// Whose data a claim holds: by what is written on it, and by the EtcdClusters that there are.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { Store } from "../../kube/cache/store.ts";
import type { PersistentVolumeClaim } from "../../kube/objects/kinds.ts";
import { clusterUidAnnotation, homeAnnotation, isClaimOf, memberClaim } from "../objects/claims.ts";
import { memberName } from "../objects/names.ts";
import { sampleCluster } from "../testing/sample-world.ts";
import { foreignHomeOf } from "./claims.ts";

const pod = { persistentVolumeClaimSpec: { resources: { requests: { storage: "1Gi" } } } };
const cluster = sampleCluster({ spec: { pod } });
const original: EtcdCluster = {
  ...cluster,
  metadata: { ...cluster.metadata, namespace: "warehouse", uid: "original" },
};

function clusters(...there: readonly EtcdCluster[]): Store<EtcdCluster> {
  const store = new Store<EtcdCluster>();
  for (const one of there) store.put(one);
  return store;
}

function claim(annotations: Readonly<Record<string, string>>): PersistentVolumeClaim {
  return { metadata: { name: "demo-a", namespace: "shop", annotations } };
}

describe("a claim", () => {
  test("that a cluster makes says whose it is, and is its own", () => {
    const made = memberClaim(cluster, memberName("demo-a"));
    assert.equal(made.metadata?.annotations?.[homeAnnotation], "shop/demo");
    assert.ok(isClaimOf(made, cluster));
    assert.equal(foreignHomeOf(made, cluster, clusters(cluster)), undefined);
  });

  test("of a cluster of this name that was deleted is not foreign", () => {
    const left = claim({ [clusterUidAnnotation]: "earlier", [homeAnnotation]: "shop/demo" });
    assert.ok(!isClaimOf(left, cluster));
    assert.equal(foreignHomeOf(left, cluster, clusters(cluster, original)), undefined);
  });

  test("that was copied from another namespace is foreign", () => {
    const copied = claim({ [clusterUidAnnotation]: "earlier", [homeAnnotation]: "warehouse/demo" });
    assert.equal(foreignHomeOf(copied, cluster, clusters(cluster)), "warehouse/demo");
  });

  test("that was copied is not the cluster's own though it has its uid", () => {
    const copied = claim({ [clusterUidAnnotation]: "uid-of-demo", [homeAnnotation]: "warehouse/demo" });
    assert.ok(!isClaimOf(copied, cluster));
    assert.equal(foreignHomeOf(copied, cluster, clusters(cluster)), "warehouse/demo");
  });

  test("of an older operator that was copied from a cluster which is there is foreign", () => {
    const copied = claim({ [clusterUidAnnotation]: "original" });
    assert.equal(foreignHomeOf(copied, cluster, clusters(cluster, original)), "warehouse/demo");
  });

  test("of an older operator whose cluster is nowhere may have been left behind", () => {
    assert.equal(foreignHomeOf(claim({ [clusterUidAnnotation]: "earlier" }), cluster, clusters(cluster)), undefined);
    assert.equal(foreignHomeOf(claim({}), cluster, clusters(cluster, original)), undefined);
  });
});
