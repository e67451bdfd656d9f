// Requests for a restore that were carried out long ago, or are not of this cluster: an EtcdCluster that is exported, deleted
// and applied again brings its annotations along, and its status not.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { restoreAnnotation } from "../api/etcd-cluster/restore-annotation.ts";
import { EtcdRestore, type EtcdRestoreStatus } from "../api/etcd-restore/etcd-restore.ts";
import { volumesOf } from "./testing/happenings.ts";
import { key, Stage } from "./testing/stage.ts";

const onVolumes = { pod: volumesOf("1Gi") };

const setRestore = (stage: Stage, status: EtcdRestoreStatus) =>
  stage.api.mergePatch(EtcdRestore, key, { status }, { subresource: "status" });

/** As `kubectl get -o yaml`, `kubectl delete` and `kubectl apply` do it; `request`: what the annotation says then. */
async function appliedAgain(stage: Stage, request: (annotation: string) => string): Promise<void> {
  const { metadata, spec } = await stage.cluster();
  const annotations = { [restoreAnnotation]: request(metadata?.annotations?.[restoreAnnotation] ?? "") };
  await stage.stopOperator();
  // Its volumes stay, and the data in them.
  const { etcd } = stage.kubelet;
  stage.watch.allowAbsence();
  await stage.deleteCluster();
  stage.kubelet.etcd = etcd;
  await stage.api.create(EtcdCluster, { metadata: { ...key, annotations }, spec });
  stage.startOperator();
}

/** A cluster whose data was replaced, and whose EtcdRestore is as its status says. */
async function restored(stage: Stage, status: EtcdRestoreStatus): Promise<void> {
  stage.startOperator();
  await stage.createWhole(3, "3.6.16", onVolumes);
  await stage.restore();
  await stage.untilSettled(3);
  await setRestore(stage, status);
}

describe("a cluster that is deleted and applied again after a restore", () => {
  const asItWas = (annotation: string): string => annotation;
  const inOldForm = (annotation: string): string => annotation.split("/").slice(0, 2).join("/");
  const cases = {
    "with the request as it was, of an EtcdRestore that has succeeded": [asItWas, { phase: "Succeeded" }],
    "with a request of an older release, of an EtcdRestore that has succeeded": [inOldForm, { phase: "Succeeded" }],
    "with a request of an older release, of an EtcdRestore that has failed": [inOldForm, { phase: "Failed" }],
    "with the request as it was, of an EtcdRestore that is under way": [asItWas, { phase: "Restoring" }],
    "with a request of an older release, of an EtcdRestore that is under way": [inOldForm, { phase: "Restoring" }],
  } as const;
  for (const [what, [request, status]] of Object.entries(cases))
    test(`${what}, goes on with its volumes`, async () => {
      await using stage = new Stage();
      await restored(stage, status);
      const { clusterId } = (await stage.cluster()).status ?? {};
      await appliedAgain(stage, request);
      await stage.pass(60_000);
      const { status: after } = await stage.cluster();
      assert.deepEqual([after?.restore, after?.clusterId], [undefined, clusterId]);
    });

  test("goes on with its volumes where the EtcdRestore of a request of an older release is gone", async () => {
    await using stage = new Stage();
    await restored(stage, { phase: "Succeeded" });
    const { clusterId } = (await stage.cluster()).status ?? {};
    await stage.api.delete(EtcdRestore, key);
    await appliedAgain(stage, inOldForm);
    await stage.pass(60_000);
    assert.equal((await stage.cluster()).status?.clusterId, clusterId);
  });
});

describe("a request of an older release, whose operator was replaced in the middle,", () => {
  const inOldForm = (annotation = ""): string => annotation.split("/").slice(0, 2).join("/");

  test("is carried out in place: its EtcdRestore says which cluster it means", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3, "3.6.16", onVolumes);
    await stage.stopOperator();
    await stage.restore();
    const { annotations = {} } = (await stage.cluster()).metadata ?? {};
    const older = { [restoreAnnotation]: inOldForm(annotations[restoreAnnotation]) };
    await stage.api.mergePatch(EtcdCluster, key, { metadata: { annotations: older } });
    stage.startOperator();
    await stage.untilWhole(3);
    assert.equal((await stage.cluster()).status?.restore?.phase, "Done");
  });

  test("is carried out in a cluster that was made with it", async () => {
    await using stage = new Stage();
    await stage.createRestored(3);
    const { annotations = {} } = (await stage.cluster()).metadata ?? {};
    const older = { [restoreAnnotation]: inOldForm(annotations[restoreAnnotation]) };
    await stage.api.mergePatch(EtcdCluster, key, { metadata: { annotations: older } });
    stage.startOperator();
    await stage.untilWhole(3);
    assert.equal((await stage.cluster()).status?.restore?.phase, "Done");
  });
});

test("a cluster that was made for a restore does not begin empty when the EtcdRestore is deleted", async () => {
  await using stage = new Stage();
  await stage.createRestored(3);
  await stage.api.delete(EtcdRestore, { ...key, name: "from-backup" });
  stage.startOperator();
  await stage.pass(60_000);
  assert.deepEqual(await stage.podNames(), []);
  assert.match(
    (await stage.condition("Ready"))?.message ?? "",
    /The EtcdRestore from-backup .* is gone: apply another/i,
  );
});

test("a cluster at rest is not asked about its restore, though its annotation is still there", async () => {
  await using stage = new Stage();
  await restored(stage, { phase: "Restoring" });
  assert.notEqual((await stage.cluster()).metadata?.annotations?.[restoreAnnotation], undefined);
  stage.api.forgetRequests();
  await stage.pass(40_000);
  assert.deepEqual(
    stage.api.requests.filter(({ verb }) => verb !== "watch"),
    [],
  );
});
