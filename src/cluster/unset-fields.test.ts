// What a field that nobody set comes to: decided where a cluster begins, and changed by no later operator.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultVersion } from "../api/etcd-cluster/version.ts";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { versionAnnotation } from "./objects/member-pod.ts";
import { key, Stage } from "./testing/stage.ts";

function begin(): Stage {
  const stage = new Stage();
  stage.startOperator();
  return stage;
}

const versionsIn = async (stage: Stage): Promise<(string | undefined)[]> =>
  (await stage.pods()).map(({ metadata }) => metadata?.annotations?.[versionAnnotation]);

/** Another process, and what it writes in five minutes. */
async function writesOfNext(stage: Stage): Promise<string[]> {
  await stage.stopOperator();
  const before = stage.api.writes.length;
  stage.startOperator();
  await stage.pass(300_000);
  return stage.api.writes.slice(before).map(({ kind, verb }) => `${verb} ${kind}`);
}

test("a cluster without a version begins with the default, and its status says which it is", async () => {
  await using stage = begin();
  await stage.createWhole(3, "");
  assert.deepEqual(await versionsIn(stage), [defaultVersion, defaultVersion, defaultVersion]);
  const { spec, status } = await stage.cluster();
  assert.deepEqual([spec.version, status?.currentVersion, status?.targetVersion], ["", defaultVersion, ""]);
});

test("a cluster that runs another version than the default, and names none, is not changed", async () => {
  for (const runs of ["3.5.35", "3.7.3"]) {
    await using stage = begin();
    await stage.createWhole(3, runs);
    await stage.edit({ version: null });
    await stage.untilSettled(3);
    assert.deepEqual(await writesOfNext(stage), []);
    assert.deepEqual(await versionsIn(stage), [runs, runs, runs]);
  }
});

test("a cluster whose status is lost keeps the version of its pods", async () => {
  await using stage = begin();
  await stage.createWhole(3, "3.5.35");
  await stage.stopOperator();
  await stage.edit({ version: null });
  const none = { currentVersion: null, targetVersion: null, versions: null };
  await stage.api.mergePatch(EtcdCluster, key, { status: none }, { subresource: "status" });
  const { writes } = stage.startOperator();
  await stage.untilSettled(3);
  assert.deepEqual(await versionsIn(stage), ["3.5.35", "3.5.35", "3.5.35"]);
  assert.equal((await stage.cluster()).status?.currentVersion, "3.5.35");
  // No step to the default was begun either.
  assert.deepEqual([...new Set(writes)], ["patch EtcdCluster default/demo"]);
});

const small = {
  pod: { persistentVolumeClaimSpec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
};

const quotasIn = async (stage: Stage): Promise<(string | undefined)[]> =>
  (await stage.pods()).map(({ spec }) =>
    spec?.containers[0]?.command?.find((argument) => argument.startsWith("--quota-backend-bytes=")),
  );

test("the members of a small volume are made with a quota that fits it, and it is no setting of theirs", async () => {
  await using stage = begin();
  await stage.createWhole(3, "3.6.16", small);
  const quota = (await stage.cluster()).status?.dbQuota;
  const flag = `--quota-backend-bytes=${quota}`;
  assert.deepEqual([quota, await quotasIn(stage)], [281857228, [flag, flag, flag]]);
  assert.deepEqual(await writesOfNext(stage), []);
});

test("members that have etcd's default in a small volume are left alone, and so are those that join them", async () => {
  await using stage = begin();
  // As an operator made them that did not look at the volume.
  stage.webhook = (pod) => {
    const [etcd] = pod.spec?.containers ?? [];
    const command = etcd?.command?.filter((argument) => !argument.startsWith("--quota-backend-bytes="));
    return { ...pod, spec: { ...pod.spec, containers: [{ ...etcd, name: "etcd", ...(command && { command }) }] } };
  };
  await stage.createWhole(3, "3.6.16", small);
  stage.webhook = (pod) => pod;
  assert.deepEqual(await writesOfNext(stage), []);
  const lost = await stage.deletePod("follower");
  await stage.until("its pod is made again", async () => (await stage.podNames()).includes(lost));
  await stage.untilSettled(3);
  assert.deepEqual(await quotasIn(stage), [undefined, undefined, undefined]);
});
