// What an EtcdCluster means when fields are left out, and that the types say the same.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Affinity } from "kubernetes-types/core/v1.js";
import type { Condition } from "../../kube/objects/conditions.ts";
import { type CompleteEtcdCluster, EtcdCluster, imageOf, withDefaults } from "./etcd-cluster.ts";
import { oldManifests } from "./testing/old-manifests.ts";

const cluster = (spec: EtcdCluster["spec"]): EtcdCluster => ({ metadata: { name: "example", namespace: "ns" }, spec });
const old = (what: string): CompleteEtcdCluster => {
  const found = oldManifests.find((manifest) => manifest.what === what);
  return withDefaults(found?.object as unknown as EtcdCluster);
};

describe("an EtcdCluster with its defaults", () => {
  it("has those of etcd-operator 0.9, a current version of etcd, and newer ones", () => {
    assert.deepEqual(withDefaults(cluster({ size: 3 })).spec, {
      size: 3,
      repository: "quay.io/coreos/etcd",
      version: "3.6.16",
      paused: false,
      pod: { antiAffinity: false, terminationGracePeriodSeconds: 5, DNSTimeoutInSecond: 0, ClusterDomain: "" },
      etcd: {},
      failover: { unreachableAfterSeconds: 60, crashLoopAfterSeconds: 120 },
      upgrade: { path: "Manual" },
      updateStrategy: "RollingUpdate",
      volumeRetention: { whenClusterDeleted: "Retain", whenMemberRemoved: "Retain" },
    });
  });

  it("has an empty status where there is none", () => {
    assert.deepEqual(withDefaults(cluster({ size: 3 })).status, {
      phase: "",
      conditions: [],
      size: 0,
      clientEndpoints: [],
      voters: [],
      members: { ready: [], unready: [] },
      currentVersion: "",
      targetVersion: "",
      versions: {},
      certificates: [],
    });
  });

  it("takes zero values, empty strings, nulls and empty objects of Go clients as left out", () => {
    const { spec } = old("by the Go client, with its zero values");
    assert.deepEqual(spec, withDefaults(cluster({ size: 1 })).spec);
  });

  it("has no TLS where no secret is named", () => {
    assert.equal(old("with empty TLS").spec.TLS, undefined);
  });

  it("keeps an empty affinity and an empty claim: the one asks for no spreading, the other is a mistake to report", () => {
    const { pod } = withDefaults(cluster({ size: 1, pod: { affinity: {}, persistentVolumeClaimSpec: {} } })).spec;
    assert.deepEqual([pod.affinity, pod.persistentVolumeClaimSpec], [{}, {}]);
  });

  it("leaves the types of Kubernetes alone, where an empty string has a meaning", () => {
    const { pod } = old("with every setting of pods").spec;
    assert.equal(pod.persistentVolumeClaimSpec?.storageClassName, "");
    assert.equal(pod.labels?.["example.com/tier"], "");
  });

  it("drops fields of releases before 0.9, by which it knows which version they ask for", () => {
    const { spec } = withDefaults(cluster({ size: 3 }));
    assert.deepEqual(old("with fields of releases before 0.9").spec, { ...spec, version: "3.2.13" });
  });

  it("keeps the stored status, and fills in what etcd-operator 0.9 left out", () => {
    const { status } = old("as its operator stored it");
    assert.deepEqual(status.members, { ready: ["stored-4qkzfx7wsp", "stored-0001"], unready: [] });
    assert.deepEqual(status.conditions, [
      {
        type: "Available",
        status: "True",
        reason: "Cluster available",
        message: "",
        lastUpdateTime: "2018-06-01T10:00:00Z",
        lastTransitionTime: "2018-06-01T10:00:00Z",
      },
    ]);
    // The compiler proves that conditions can be merged by the runtime and stored again.
    const merged: readonly Condition[] = status.conditions;
    assert.deepEqual({ ...status, conditions: merged } satisfies EtcdCluster["status"], status);
  });

  it("trims every leading v of the version", () => {
    assert.equal(withDefaults(cluster({ size: 1, version: "vv3.6.16" })).spec.version, "3.6.16");
  });

  it("puts a dot before the domain where it is missing", () => {
    const domain = (ClusterDomain: string): string =>
      withDefaults(cluster({ size: 1, pod: { ClusterDomain } })).spec.pod.ClusterDomain;
    assert.equal(domain("cluster.local"), ".cluster.local");
    assert.equal(domain(".cluster.local"), ".cluster.local");
    assert.equal(domain(""), "");
  });

  it("reads antiAffinity as one member a node, unless affinity is set", () => {
    const affinity: Affinity = { nodeAffinity: {} };
    const pods = (pod: NonNullable<EtcdCluster["spec"]["pod"]>): Affinity | undefined =>
      withDefaults(cluster({ size: 3, pod })).spec.pod.affinity;
    assert.deepEqual(pods({ antiAffinity: true }), {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { etcd_cluster: "example" } }, topologyKey: "kubernetes.io/hostname" },
        ],
      },
    });
    assert.equal(pods({ antiAffinity: false }), undefined);
    assert.equal(pods({ antiAffinity: true, affinity }), affinity);
  });

  it("does not change the object that it was given", () => {
    const given = Object.freeze(cluster(Object.freeze({ size: 3 })));
    withDefaults(given);
    assert.deepEqual(given, cluster({ size: 3 }));
  });
});

describe("the image of the members", () => {
  const image = (spec: EtcdCluster["spec"]): string => imageOf(withDefaults(cluster(spec)).spec);
  it("is made of repository and version", () => {
    assert.equal(image({ size: 1 }), "quay.io/coreos/etcd:v3.6.16");
    assert.equal(image({ size: 1, repository: "r/e", version: "v3.6.16" }), "r/e:v3.6.16");
  });
  it("is spec.image where that is set", () => {
    assert.equal(image({ size: 1, version: "3.6.16", image: "r/e@sha256:1" }), "r/e@sha256:1");
  });
});

it("the types say which fields are always there and which may be missing", () => {
  const stored: EtcdCluster = { spec: { size: 3 } };
  // @ts-expect-error size is required
  const without: EtcdCluster = { spec: {} };
  // @ts-expect-error modes are named
  const mode: EtcdCluster = { spec: { size: 3, etcd: { autoCompactionMode: "hourly" } } };
  const complete = withDefaults(stored);
  const always: string = complete.spec.version;
  // @ts-expect-error as stored it may be missing
  const perhaps: string = stored.spec.version;
  assert.ok(without && mode && always && perhaps === undefined);
  assert.equal(EtcdCluster.plural, "etcdclusters");
});
