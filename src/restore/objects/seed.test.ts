import assert from "node:assert/strict";
import { test } from "node:test";
import { bumpPast, restoreJobOf, tooSmallBump } from "./seed.ts";
import { aBackup, aRestore, restoreUid } from "../testing/samples.ts";

const member = { name: "demo-seed", peerUrl: "http://demo-seed.demo.n.svc:2380" };
const proved = { key: "etcd/backup", backup: { path: "bucket/etcd/backup", sha256: "5ha" } };

test("the seed is made from the very object that was proved, in place of the cluster's own data", () => {
  const restore = aRestore({ status: { ...proved, inPlace: true } });
  assert.deepEqual(restoreJobOf(restore, undefined, member, "3.6.16", 0), {
    job: {
      do: "restore",
      store: {
        type: "S3",
        bucket: "bucket",
        forcePathStyle: false,
        secretFolder: "/etc/etcd-worker/store",
      },
      key: "etcd/backup",
      sha256: "5ha",
      targetVersion: "3.6.16",
      member,
      token: restoreUid,
      dataDir: "/var/etcd/data",
      bumpRevision: 1_000_000_000,
      stalledAfterSeconds: 60,
    },
    mounts: [{ folder: "/etc/etcd-worker/store", secret: "aws" }],
  });
});

test("what the check found is not looked for once more, unless it was not written down", () => {
  const given = (status: object): unknown =>
    restoreJobOf(aRestore({ status: { ...proved, inPlace: true, ...status } }), undefined, member, "3.6.16", 0).job
      .proved;
  const backup = { ...proved.backup, revision: 41, storageVersion: "3.6.0" };
  assert.deepEqual(given({ backup, keys: 7 }), { revision: 41, keys: 7, storageVersion: "3.6.0" });
  assert.deepEqual(given({ backup: { ...proved.backup, revision: 41 }, keys: 0 }), { revision: 41, keys: 0 });
  assert.equal(given({ backup }), undefined);
  assert.equal(given({ keys: 7 }), undefined);
});

test("the revision of a new cluster goes on where the backup ends, and anywhere by spec.revisionBump", () => {
  const bump = (inPlace: boolean, spec = {}, status = {}): number =>
    restoreJobOf(aRestore({ spec, status: { ...proved, inPlace, ...status } }), undefined, member, "3.6.16", 0).job
      .bumpRevision;
  assert.equal(bump(false), 0);
  assert.equal(bump(true, { revisionBump: 5 }), 5);
  assert.equal(bump(true, { revisionBump: 5 }, { revisionBump: 9 }), 9, "an edit changes nothing any more");
});

test("with an EtcdBackup the store, the keys and the volume are its own, and nothing can be written there", () => {
  const backup = aBackup({
    storageType: "PVC",
    pvc: { claimName: "backups", path: "etcd/backup" },
    encryption: { secret: "keys" },
  });
  const restore = aRestore({ status: { ...proved, inPlace: false } });
  const named = { ...restore, spec: { ...restore.spec, backup: { name: "nightly" } } };
  const { job, mounts } = restoreJobOf(named, backup, member, "3.6.16", 0);
  assert.deepEqual(job.store, { type: "PVC", folder: "/backups" });
  const cluster = { namespace: "n", name: "demo" };
  assert.deepEqual(job.encryption, { folder: "/etc/etcd-worker/encryption", cluster });
  assert.deepEqual(mounts, [
    { folder: "/backups", claim: "backups", readOnly: true },
    { folder: "/etc/etcd-worker/encryption", secret: "keys" },
  ]);
  assert.throws(() => restoreJobOf(named, undefined, member, "3.6.16", 0), /the EtcdBackup nightly is missing/);
});

test("what an EtcdRestore says of a backup that was copied, or is not encrypted, is told to the worker", () => {
  const encryption = { secret: "keys", allowUnencrypted: true, originalKey: "prod/backup" };
  const restore = aRestore({ spec: { encryption }, status: { ...proved, inPlace: false } });
  const { encryption: told } = restoreJobOf(restore, undefined, member, "3.6.16", 0).job;
  assert.deepEqual(told, {
    folder: "/etc/etcd-worker/encryption",
    allowUnencrypted: true,
    copied: { path: "etcd/backup", originalKey: "prod/backup" },
  });
});

test("nothing is made from a backup that was not proved", () => {
  assert.throws(() => restoreJobOf(aRestore(), undefined, member, "3.6.16", 0), RangeError);
});

test("each restore in place goes past the highest revision that was ever seen of the cluster", () => {
  const inPlace = aRestore({ status: { ...proved, inPlace: true } });
  let highest = 700;
  for (const revision of [500, 500, 900, 20]) {
    const restored = revision + bumpPast(inPlace, revision, highest);
    assert.ok(restored >= highest + 1_000_000_000, `${restored} after ${highest}`);
    highest = restored + 400;
  }
});

test("a bump that would repeat revisions is refused, and 0 asks for those of the backup", () => {
  const asked = (revisionBump: number, inPlace = true) => aRestore({ spec: { revisionBump }, status: { inPlace } });
  assert.match(tooSmallBump(asked(199), 500, 700) ?? "", /at revision 700.*set it to at least 201/);
  assert.match(tooSmallBump(asked(200), 500, 700) ?? "", /set it to at least 201/);
  assert.equal(tooSmallBump(asked(201), 500, 700), undefined);
  assert.equal(tooSmallBump(asked(0), 500, 700), undefined);
  assert.equal(tooSmallBump(asked(5, false), 500, 700), undefined, "nobody has seen anything of a new cluster");
  assert.equal(tooSmallBump(aRestore({ status: { inPlace: true } }), 500, 700), undefined);
});
