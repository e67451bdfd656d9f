// Requests for a restore that were carried out long ago, or are not of this cluster: an EtcdCluster that is exported, deleted
// and applied again brings its annotations along, and its status not.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { restoreAnnotation } from "../api/etcd-cluster/restore-annotation.ts";
import { EtcdRestore, type EtcdRestoreStatus, withDefaults } from "../api/etcd-restore/etcd-restore.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { volumesOf } from "./testing/happenings.ts";
import { key, Stage } from "./testing/stage.ts";
import { specDigest } from "../restore/objects/seed.ts";

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

describe("a restore in place", () => {
  const isRestored = async (stage: Stage): Promise<boolean> =>
    (await stage.cluster()).status?.restore?.phase === "Done";
  const isSeed = (object: object): boolean => JSON.stringify(object).includes('"name":"restore"');

  test("stops nothing while the namespace would not take the first member, and goes on when it does", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3);
    const before = await stage.podNames();
    const lift = stage.rules.forbid(
      (verb, kind, object) => verb === "create" && kind.plural === "pods" && isSeed(object ?? {}),
      "exceeded quota: compute, requested: limits.cpu=9, used: limits.cpu=3, limited: limits.cpu=4",
    );
    await stage.restore();
    await stage.pass(60_000);
    assert.deepEqual(await stage.podNames(), before);
    assert.equal((await stage.cluster()).status?.restore, undefined);
    const { reason, message = "" } = (await stage.condition("Ready")) ?? {};
    assert.equal(reason, "Refused");
    assert.match(message, /first member is refused: .*exceeded quota: compute.*Nothing was touched/);
    lift();
    await stage.until("restored", () => isRestored(stage));
    await stage.untilWhole(3);
  });

  test("stops nothing while the namespace would not take the volume of the first member", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3, "3.6.16", onVolumes);
    const before = await stage.podNames();
    const lift = stage.rules.useUp("claims");
    await stage.restore();
    await stage.pass(60_000);
    assert.deepEqual(await stage.podNames(), before);
    assert.equal((await stage.cluster()).status?.restore, undefined);
    lift();
    await stage.until("restored", () => isRestored(stage));
  });

  for (const phase of ["Stopping", "Seeding"] as const)
    for (const spec of [{}, onVolumes])
      test(`is finished ${spec === onVolumes ? "with volumes" : "without volumes"} by the cluster when the EtcdRestore is deleted while it is ${phase}`, async () => {
        await using stage = new Stage();
        stage.startOperator();
        await stage.createWhole(3, "3.6.16", spec);
        const { clusterId } = (await stage.cluster()).status ?? {};
        await stage.restore();
        await stage.until(phase, async () => (await stage.cluster()).status?.restore?.phase === phase);
        await stage.api.delete(EtcdRestore, key);
        await stage.until("restored", () => isRestored(stage));
        await stage.untilWhole(3);
        const { status } = await stage.cluster();
        assert.notEqual(status?.clusterId, clusterId);
        assert.equal(status?.restore?.plan, undefined);
      });

  test("writes into the status of the cluster where the replaced data is, which backup it was and what asked for it", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3);
    await stage.write();
    // As after an earlier one that was asked to go back: revisions were higher once.
    await stage.api.mergePatch(EtcdCluster, key, { status: { highestRevision: 5000 } }, { subresource: "status" });
    const { revision } = stage.kubelet.etcd?.store ?? {};
    await stage.restore();
    await setRestore(stage, { snapshotPath: "bucket/saved", keptVolumes: "claim-a" });
    await stage.until("begun", async () => (await stage.cluster()).status?.restore !== undefined);
    const { status, spec } = withDefaults(await stage.api.get(EtcdRestore, key));
    const { restore } = (await stage.cluster()).status ?? {};
    assert.partialDeepStrictEqual(restore, {
      backup: "bucket/backup",
      snapshotPath: "bucket/saved",
      keptVolumes: "claim-a",
      restored: [status.backup?.sha256],
      specs: [specDigest(spec)],
      stoppedAtRevision: revision,
    });
    // Another one takes over, and has saved nothing: there is nothing to save any more.
    await stage.api.delete(EtcdRestore, key);
    await stage.restore();
    await stage.until("taken over", async () => {
      const { uid } = (await stage.api.get(EtcdRestore, key)).metadata ?? {};
      return (await stage.cluster()).status?.restore?.uid === uid;
    });
    const after = (await stage.cluster()).status?.restore;
    assert.deepEqual([after?.snapshotPath, after?.keptVolumes], ["bucket/saved", "claim-a"]);
  });

  const limited = { pod: { resources: { limits: { cpu: "1" } } } };

  test("goes on in a namespace with a quota that the members use up, and that asks every container for its limits", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3, "3.6.16", limited);
    let pods = 3;
    stage.rules.forbid(
      (verb, kind, object) => verb === "create" && kind.plural === "pods" && isSeed(object ?? {}) && pods >= 3,
      "exceeded quota: compute, requested: limits.cpu=1, used: limits.cpu=3, limited: limits.cpu=3",
    );
    stage.rules.forbid((verb, kind, object) => {
      if (verb !== "create" || kind.plural !== "pods") return false;
      const { initContainers = [], containers = [] } = (object as Pod).spec ?? {};
      return [...initContainers, ...containers].some(({ resources }) => resources?.limits?.["cpu"] === undefined);
    }, "failed quota: compute: must specify limits.cpu");
    await stage.restore();
    await stage.until("begun", async () => (await stage.cluster()).status?.restore !== undefined);
    pods = 0;
    await stage.until("restored", () => isRestored(stage));
    await stage.untilWhole(3);
  });

  test("gives the container that makes the data the resources of the EtcdRestore", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3, "3.6.16", limited);
    await stage.restore();
    const resources = { limits: { cpu: "2", memory: "1Gi" } };
    await stage.api.mergePatch(EtcdRestore, key, { spec: { worker: { resources } } });
    let seed: Pod | undefined;
    await stage.until("a seed", async () => {
      seed ??= (await stage.api.list(Pod, { namespace: key.namespace })).items.find(isSeed);
      return seed !== undefined;
    });
    assert.deepEqual(seed?.spec?.initContainers?.[0]?.resources, resources);
    assert.deepEqual(seed.spec.containers[0]?.resources, limited.pod.resources);
  });

  test("moves revisions only forward, however old the backup is and however often it is done", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3);
    let highest = 0;
    for (let round = 0; round < 3; round += 1) {
      for (let writes = 0; writes < 5; writes += 1) await stage.write();
      const { etcd } = stage.kubelet;
      highest = Math.max(highest, etcd?.store.revision ?? 0);
      await stage.api.delete(EtcdRestore, key).catch(() => undefined);
      await stage.restore();
      const { uid } = (await stage.api.get(EtcdRestore, key)).metadata ?? {};
      await stage.until("restored", async () => {
        const { restore } = (await stage.cluster()).status ?? {};
        return restore?.uid === uid && restore?.phase === "Done";
      });
      await stage.untilWhole(3);
      const { revision } = stage.kubelet.etcd?.store ?? { revision: 0 };
      assert.ok(revision > highest, `revision ${revision} after ${highest}, round ${round}`);
    }
  });
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
