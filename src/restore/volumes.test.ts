// What is saved before a cluster is replaced, and which volumes are said to be kept: by what its members have, whatever the
// spec asks for.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { claimLabel } from "../cluster/objects/claims.ts";
import { dataVolume } from "../cluster/objects/member-pod.ts";
import { PersistentVolumeClaim, Pod } from "../kube/objects/kinds.ts";
import { ownerReference } from "../kube/objects/owners.ts";
import { namespace } from "./testing/samples.ts";
import { Stage } from "./testing/stage.ts";

const wanted = { pod: { persistentVolumeClaimSpec: {} } };
const all = ["demo-a", "demo-b", "demo-c"];

interface Case {
  readonly spec?: object;
  /** What the members have by the time of the restore. */
  readonly has: (stage: Stage) => Promise<unknown>;
  readonly saved: boolean;
  readonly kept: string | undefined;
}

async function aPod(stage: Stage, name: string, volume: object): Promise<void> {
  const owner = ownerReference(EtcdCluster, await stage.cluster());
  await stage.api.create(Pod, {
    metadata: { namespace, name, labels: { app: "etcd", etcd_cluster: "demo" }, ownerReferences: [owner] },
    spec: { containers: [{ name: "etcd", image: "etcd" }], volumes: [{ name: dataVolume, ...volume }] },
  });
}

const change = (stage: Stage, name: string, patch: object, subresource?: "status") =>
  stage.api.mergePatch(PersistentVolumeClaim, { namespace, name }, patch, subresource && { subresource });

const cases: Readonly<Record<string, Case>> = {
  "that asks for volumes which no member has yet": {
    spec: wanted,
    has: () => Promise.resolve(),
    saved: true,
    kept: undefined,
  },
  "whose members have volumes that the spec does not ask for any more": {
    has: (stage) => stage.makeVolumes(...all),
    saved: false,
    kept: "demo-a, demo-b, demo-c",
  },
  "of which one member has got its volume": {
    spec: wanted,
    has: (stage) => stage.makeVolumes("demo-b"),
    saved: true,
    kept: "demo-b",
  },
  "of which one member runs without the volume of its name": {
    spec: wanted,
    async has(stage) {
      await stage.makeVolumes(...all);
      await aPod(stage, "demo-a", { persistentVolumeClaim: { claimName: "demo-a" } });
      await aPod(stage, "demo-b", { emptyDir: {} });
    },
    saved: true,
    kept: "demo-a, demo-b, demo-c",
  },
  "one of whose volumes is of a member that was removed": {
    spec: wanted,
    async has(stage) {
      await stage.makeVolumes(...all);
      await change(stage, "demo-c", { metadata: { labels: { [claimLabel]: "retired" } } });
    },
    saved: true,
    kept: "demo-a, demo-b",
  },
  "one of whose volumes is lost": {
    spec: wanted,
    async has(stage) {
      await stage.makeVolumes(...all);
      await change(stage, "demo-a", { status: { phase: "Lost" } }, "status");
    },
    saved: true,
    kept: "demo-b, demo-c",
  },
  "one of whose volumes has never been written to": {
    spec: wanted,
    async has(stage) {
      await stage.makeVolumes(...all);
      await change(stage, "demo-a", { metadata: { annotations: { "etcd.database.coreos.com/cluster-id": null } } });
    },
    saved: true,
    kept: "demo-a, demo-b, demo-c",
  },
};

describe("before a cluster is replaced", () => {
  for (const [what, { spec = {}, has, saved, kept }] of Object.entries(cases))
    test(`${what}, its data is ${saved ? "saved" : "not saved"}, and only volumes that are there are named`, async () => {
      await using stage = new Stage();
      await stage.make("cluster", spec);
      await has(stage);
      stage.startOperator();
      await stage.make("restore");
      const { phase, keptVolumes, snapshotPath } = await stage.untilOver();
      assert.deepEqual([phase, keptVolumes, snapshotPath !== undefined], ["Succeeded", kept, saved]);
      assert.deepEqual(
        stage.jobs.map((job) => job.do),
        saved ? ["check", "backup", "restore"] : ["check", "restore"],
      );
    });

  test("its data is saved when the volumes have gone while the restore waited", async () => {
    await using stage = new Stage();
    await stage.make("cluster", { paused: true });
    await stage.makeVolumes(...all);
    stage.startOperator();
    await stage.make("restore");
    await stage.until("waiting", async () => /is paused/.test((await stage.status()).message ?? ""));
    for (const name of all) await stage.api.delete(PersistentVolumeClaim, { namespace, name });
    await stage.api.mergePatch(EtcdCluster, { namespace, name: "demo" }, { spec: { paused: false } });
    const { phase, keptVolumes, snapshotPath } = await stage.untilOver();
    assert.deepEqual([phase, keptVolumes, snapshotPath === undefined], ["Succeeded", undefined, false]);
  });
});
