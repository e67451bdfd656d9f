// The controller of EtcdBackups from end to end, in memory and in simulated time.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { key, Stage } from "./testing/stage.ts";

const minutes = 60_000;
const hours = 60 * minutes;

describe("a backup that is taken once", () => {
  test("is taken at once, and its facts are in the status", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create();
    await stage.untilPhase("Succeeded");
    const status = await stage.status();
    assert.equal(status.succeeded, true);
    assert.equal(status.Reason, undefined);
    assert.equal(status.run, undefined);
    assert.equal(status.nextRun, undefined);
    assert.equal(status.lastBackup?.path, "bucket/etcd/backup");
    assert.equal(status.etcdVersion, "3.6.16");
    assert.equal(status.etcdRevision, 100);
    assert.equal(status.history?.length, 1);
    assert.equal((await stage.condition("Complete"))?.status, "True");
    assert.deepEqual(
      stage.told.map(({ reason }) => reason),
      ["Backup Succeeded"],
    );
    await stage.pass(5_000);
    assert.deepEqual(await stage.podNames(), []);
    const writes = stage.life.writes.length;
    await stage.pass(24 * hours);
    assert.equal(stage.life.writes.length, writes);
    assert.equal(stage.workers.count("backup"), 1);
    assert.equal(stage.metric("etcd_operator_backup_last_size_bytes"), 1100);
    await stage.api.delete(EtcdBackup, key);
    await stage.pass(5_000);
    assert.equal(stage.metric("etcd_operator_backup_last_size_bytes"), undefined);
  });
});

void Pod;
