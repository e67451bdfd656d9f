// Members that answer without end, as an image can that is no etcd: the controller from end to end, on the in-memory stage.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Stage } from "./testing/stage.ts";

for (const size of [1, 3])
  test(`a cluster of ${size} whose members all answer without end loses nothing, is reported, and goes on when they answer as etcd does`, async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(size);
    const { etcd } = stage.kubelet;
    assert.ok(etcd !== undefined);
    stage.watch.allowAbsence();
    const members = etcd.members.map(({ name }) => name);
    for (const name of members) etcd.set(name, "endless");
    await stage.pass(300_000);
    const { status, message = "" } = (await stage.condition("Ready")) ?? {};
    assert.equal(status, "False");
    assert.match(message, /answers, but not as etcd does/);
    assert.ok(message.length < 2000, message);
    assert.deepEqual((await stage.podNames()).toSorted(), members.toSorted());

    for (const name of members) etcd.set(name, "running");
    await stage.untilWhole(size);
    assert.deepEqual(etcd.members.map(({ name }) => name).toSorted(), members.toSorted());
  });
