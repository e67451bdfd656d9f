// Claims and EtcdCluster brought to another namespace under the same name, as backup tools do: nothing starts on them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterId } from "../etcd/ids.ts";
import { PersistentVolumeClaim } from "../kube/objects/kinds.ts";
import { clusterIdAnnotation, memberClaim } from "./objects/claims.ts";
import { memberName } from "./objects/names.ts";
import { volumesOf } from "./testing/happenings.ts";
import { sampleCluster } from "./testing/sample-world.ts";
import { key, Stage } from "./testing/stage.ts";

/** As a tool writes them that was told to map the namespace shop to this one. */
async function copyClaims(stage: Stage): Promise<readonly string[]> {
  const original = sampleCluster({ spec: { pod: volumesOf("1Gi") } });
  const names = ["demo-a", "demo-b", "demo-c"];
  for (const name of names) {
    const { metadata, spec } = memberClaim(original, memberName(name));
    const annotations = { ...metadata?.annotations, [clusterIdAnnotation]: clusterId(0xc1n) };
    const claim = { metadata: { ...metadata, namespace: key.namespace, annotations }, ...(spec && { spec }) };
    await stage.api.create(PersistentVolumeClaim, claim);
    const status = { phase: "Bound", capacity: { storage: "1Gi" } };
    await stage.api.mergePatch(PersistentVolumeClaim, { ...key, name }, { status }, { subresource: "status" });
  }
  return names;
}

test("a cluster that finds copies of the volumes of another one starts nothing on them, and says what to do", async () => {
  await using stage = new Stage();
  const names = await copyClaims(stage);
  stage.startOperator();
  await stage.create(3, "3.6.16", { pod: volumesOf("1Gi") });
  await stage.pass(60_000);
  assert.deepEqual(await stage.podNames(), []);
  const ready = await stage.condition("Ready");
  assert.equal(ready?.reason, "VolumesForeign");
  assert.match(ready?.message ?? "", /copies of the data of the EtcdCluster shop\/demo: .*EtcdRestore/);
  assert.ok(stage.recorded.some(({ reason, note }) => reason === "Volumes Foreign" && note === ready?.message));
  for (const { metadata } of (await stage.api.list(PersistentVolumeClaim)).items)
    assert.equal(metadata?.annotations?.["etcd.database.coreos.com/cluster-uid"], "uid-of-demo");

  for (const name of names) await stage.api.delete(PersistentVolumeClaim, { ...key, name });
  await stage.untilWhole(3);
});

test("the volumes of a cluster that was deleted and is made again in its namespace are taken over", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.createWhole(3, "3.6.16", { pod: volumesOf("1Gi") });
  const before = await stage.podNames();
  await stage.stopOperator();
  await stage.deleteCluster();
  stage.startOperator();
  await stage.create(3, "3.6.16", { pod: volumesOf("1Gi") });
  await stage.pass(5_000);
  assert.deepEqual((await stage.podNames()).toSorted(), before.toSorted());
});

test("a cluster that asks for no volumes begins beside copies of those of another one", async () => {
  await using stage = new Stage();
  await copyClaims(stage);
  stage.startOperator();
  await stage.create(1);
  await stage.untilWhole(1);
});
