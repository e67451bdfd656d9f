// What is wrong with a cluster never keeps its cure from it: the controller from end to end, on the in-memory stage.
import assert from "node:assert/strict";
import { test } from "node:test";
import { volumesOf } from "./testing/happenings.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { key, Stage } from "./testing/stage.ts";

const GiB = 2 ** 30;

for (const version of ["3.5.35", "3.6.16"])
  for (const [where, pod] of [
    ["in pods", {}],
    ["on volumes", volumesOf("20Gi")],
  ] as const)
    test(`a full database of ${version} ${where} gets the larger quota of the spec, and takes writes again`, async () => {
      await using stage = new Stage();
      stage.startOperator();
      await stage.createWhole(3, version, { pod });
      const { etcd } = stage.kubelet;
      assert.ok(etcd !== undefined);
      etcd.ballast = 2 * GiB;
      etcd.raise(etcd.members[0]?.name ?? "", "noSpace");
      await stage.pass(60_000);
      assert.equal(etcd.alarms.length, 1, "nobody disarms it while there is no room");
      assert.equal((await stage.condition("Ready"))?.reason, "NoSpace");
      assert.equal(await stage.write(), false);

      await stage.edit({ etcd: { quotaBackendBytes: 8 * GiB } });
      await stage.until("the alarm is disarmed", () => etcd.alarms.length === 0);
      await stage.untilWhole(3);
      assert.equal(await stage.write(), true);
      assert.ok(stage.recorded.some(({ reason }) => reason === "Alarm Disarmed"));
      const { status } = await stage.cluster();
      assert.equal(status?.updatedMembers, 3);
    });

test("members whose image is gone get the one that the spec names by now, with and without a quorum", async () => {
  for (const lost of [1, 3]) {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3, "3.6.16", { pod: volumesOf("1Gi") });
    stage.watch.allowAbsence();
    // The registry is switched off, and nodes are emptied: their pods come back without an image.
    stage.kubelet.missing.push("quay.io/");
    const pods = await stage.pods();
    for (const { metadata } of pods.slice(0, lost)) await stage.api.delete(Pod, { ...key, name: metadata?.name ?? "" });
    await stage.pass(30_000);
    assert.equal((await stage.condition("Ready"))?.status, "False");
    await stage.edit({ repository: "mirror.example/etcd" });
    await stage.untilWhole(3);
    assert.deepEqual(
      new Set((await stage.pods()).map((pod) => pod.spec?.containers[0]?.image)),
      new Set(["mirror.example/etcd:v3.6.16"]),
    );
  }
});

for (const [what, etcdEnv] of [
  ["say so in their status", []],
  [
    "say so only in their logs, because of a value from a Secret",
    [{ name: "TOKEN", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }],
  ],
] as const)
  test(`three members whose volumes were emptied have lost the data, and ${what}`, async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3, "3.6.16", { pod: { ...volumesOf("1Gi"), etcdEnv: [...etcdEnv] } });
    stage.watch.allowLoss();
    for (const name of await stage.podNames()) stage.kubelet.wipe(name);
    await stage.until("it is said", async () => (await stage.condition("Ready"))?.reason === "DataLost");
  });
