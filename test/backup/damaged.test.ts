// Backups that must never be restored: each is refused with a code and a sentence that says what is wrong with it.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { run } from "../../lab/machine/command.ts";
import type { BackupFacts, FailureCode } from "../../src/worker/job.ts";
import { metadataKey } from "../../src/worker/jobs/kept/object-key.ts";
import { RealEtcd } from "../etcd/real-etcd.ts";
import { Jobs } from "./jobs.ts";

const jobs = new Jobs();
let etcd: RealEtcd;
let keys: string;
let plain: BackupFacts;
let sealed: BackupFacts;

const bytesOf = ({ key }: BackupFacts): Buffer => Buffer.from(jobs.store.objects.get(key)!.bytes);

before(async () => {
  keys = await mkdtemp(path.join(tmpdir(), "keys-"));
  await writeFile(path.join(keys, "2026"), randomBytes(32));
  etcd = await RealEtcd.start("3.7.3");
  const m0 = etcd.member("m0");
  for (let n = 0; n < 300; n += 1) await m0.put(`key/${n}`, randomBytes(1000));
  const at = [etcd.clientUrl("m0")];
  ({ backup: plain } = await jobs.backup(at, { key: { t: "once", path: "plain" } }));
  ({ backup: sealed } = await jobs.backup(at, { key: { t: "once", path: "sealed" }, encryption: { folder: keys } }));
});
after(async () => {
  await etcd[Symbol.asyncDispose]();
  await rm(keys, { recursive: true });
});

/** An object without metadata, as of etcd-operator 0.9. */
async function foreign(bytes: Uint8Array, code: FailureCode, said: RegExp): Promise<void> {
  jobs.store.objects.set("foreign", { bytes, modified: 0 });
  const job = jobs.checkJob("3.7.3", "foreign", { encryption: { folder: keys, allowUnencrypted: true } });
  assert.match(await jobs.fails(code, job), said);
}

/** The object of a backup was changed, and its metadata was not. */
async function changed(facts: BackupFacts, bytes: Uint8Array, code: FailureCode, said: RegExp): Promise<void> {
  const object = jobs.store.objects.get(facts.key)!;
  const original = object.bytes;
  try {
    object.bytes = bytes;
    const encryption = { folder: keys, allowUnencrypted: true } as const;
    assert.match(await jobs.fails(code, jobs.checkJob("3.7.3", facts.key, { encryption })), said);
  } finally {
    object.bytes = original;
  }
}

function flipped(bytes: Buffer, at: number): Buffer {
  const other = Buffer.from(bytes);
  other[at]! ^= 16;
  return other;
}

/** With a digest that fits. */
const digested = (database: Buffer): Buffer =>
  Buffer.concat([database, createHash("sha256").update(database).digest()]);

describe("a backup is refused", () => {
  test("that was cut off, at whatever length", async () => {
    const bytes = bytesOf(plain);
    for (const length of [
      0,
      1,
      31,
      32,
      512,
      4096,
      4128,
      16_416,
      bytes.length - 512,
      bytes.length - 32,
      bytes.length - 1,
    ]) {
      const cut = bytes.subarray(0, length);
      await foreign(cut, "damaged", /It was cut off|does not match the digest/);
      await changed(plain, cut, "damaged", /cut off|digest|is not what was written/);
    }
  });

  test("in which a bit was changed", async () => {
    const bytes = bytesOf(plain);
    for (const at of [0, 5000, bytes.length >> 1, bytes.length - 40, bytes.length - 1]) {
      await foreign(flipped(bytes, at), "damaged", /does not match the digest/);
      await changed(plain, flipped(bytes, at), "damaged", /does not match the digest/);
    }
  });

  test("that is another snapshot than its metadata says", async () => {
    await changed(plain, digested(Buffer.alloc(plain.snapshotBytes - 32)), "damaged", /is not what was written/);
  });

  test("that is a copy of etcd's file, without a digest", () =>
    foreign(bytesOf(plain).subarray(0, -32), "damaged", /not a snapshot/));

  test("whose digest fits and whose pages make no sense", async () => {
    const database = bytesOf(plain).subarray(0, -32);
    await foreign(digested(database.subarray(0, 8192)), "damaged", /etcdutl snapshot status says/);
    await foreign(digested(Buffer.alloc(65_536)), "damaged", /etcdutl snapshot status says/);
  });

  test("whose keys are not those that etcd served", async () => {
    const name = metadataKey(plain.key);
    const object = jobs.store.objects.get(name)!;
    const original = object.bytes;
    const recorded = { ...plain, formatVersion: 1 };
    try {
      const hash = { ...plain.hash!, value: 1 };
      object.bytes = Buffer.from(JSON.stringify({ ...recorded, hash }));
      assert.match(await jobs.fails("damaged", jobs.checkJob("3.7.3", plain.key)), /have the hash/);
      object.bytes = Buffer.from(JSON.stringify({ ...recorded, revision: plain.revision + 1, hash: undefined }));
      assert.match(await jobs.fails("damaged", jobs.checkJob("3.7.3", plain.key)), /its revision is/);
    } finally {
      object.bytes = original;
    }
  });

  test("that was encrypted and then changed or cut off", async () => {
    const bytes = bytesOf(sealed);
    for (const at of [200, bytes.length >> 1, bytes.length - 9])
      await changed(sealed, flipped(bytes, at), "tampered", /was changed after it was written/);
    for (const length of [20, 100, bytes.length >> 1, bytes.length - 1])
      await changed(sealed, bytes.subarray(0, length), "damaged", /its end is missing/);
  });

  test("whose key is missing or another one", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "keys-"));
    try {
      const job = jobs.checkJob("3.7.3", sealed.key, { encryption: { folder } });
      assert.match(await jobs.fails("keyMissing", job), /the key 2026, which the Secret does not have/);
      await writeFile(path.join(folder, "2026"), randomBytes(32));
      assert.match(await jobs.fails("wrongKey", job), /another key/);
      await writeFile(path.join(folder, "2026"), "too short");
      assert.match(await jobs.fails("misconfigured", job), /not 32 bytes/);
      assert.match(await jobs.fails("keyMissing", jobs.checkJob("3.7.3", sealed.key)), /Name the Secret/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("that is not encrypted where keys are given, or was encrypted under another key", async () => {
    const { objects } = jobs.store;
    const encryption = { folder: keys };
    const member = { name: "m0", peerUrl: "http://127.0.0.1:1", dataDir: path.join(keys, "..", "never-made") };
    for (const key of ["replaced", "replaced.json"]) objects.delete(key);
    for (const [facts, said] of [
      [plain, /allowUnencrypted/],
      [sealed, /was encrypted under the key sealed/],
    ] as const) {
      objects.set("replaced", { bytes: bytesOf(facts), modified: 0 });
      assert.match(await jobs.fails("tampered", jobs.checkJob("3.7.3", "replaced", { encryption })), said);
      const restoring = jobs.restoreJob({ ...facts, key: "replaced" }, "3.7.3", member, { encryption });
      assert.match(await jobs.fails("tampered", restoring), said);
    }
    const copied = { path: "replaced", originalKey: sealed.key };
    const { clusterId, takenAt } = await jobs.check("3.7.3", "replaced", { encryption: { ...encryption, copied } });
    assert.deepEqual([clusterId, takenAt], [sealed.clusterId, sealed.takenAt]);
  });

  test("that is of a newer etcd than the one that is to serve it", async () => {
    const said = await jobs.fails("newerVersion", jobs.checkJob("3.6.16", plain.key));
    assert.match(said, /is of etcd 3\.7, and etcd 3\.6\.16 is to serve it/);
    jobs.store.objects.set("foreign", { bytes: bytesOf(plain), modified: 0 });
    await jobs.fails("newerVersion", jobs.checkJob("3.6.16", "foreign"));
  });

  test("by a restore, too, which leaves nothing of the data that it has begun to make", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "restored-"));
    const member = { name: "m0", peerUrl: "http://127.0.0.1:1", dataDir: path.join(folder, "data") };
    try {
      const senseless = digested(Buffer.alloc(65_536));
      jobs.store.objects.set("foreign", { bytes: senseless, modified: 0 });
      const sha256 = createHash("sha256").update(senseless).digest("hex");
      await jobs.fails("damaged", jobs.restoreJob({ key: "foreign", sha256 }, "3.7.3", member));
      await jobs.fails("newerVersion", jobs.restoreJob(plain, "3.6.16", member));
      // As the product asks for it: what the check found is not read out of the file again.
      const { revision, storageVersion } = await jobs.check("3.7.3", plain.key);
      assert.ok(storageVersion);
      const proved = { revision, keys: 300, storageVersion };
      await jobs.fails("newerVersion", jobs.restoreJob(plain, "3.6.16", member, { proved }));
      await jobs.fails("damaged", jobs.restoreJob({ key: "foreign", sha256 }, "3.7.3", member, { proved }));
      await jobs.fails("damaged", jobs.restoreJob({ ...plain, sha256: "00" }, "3.7.3", member));
      assert.deepEqual(await readdir(folder), []);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("that is not there", async () => {
    assert.match(await jobs.fails("notFound", jobs.checkJob("3.7.3", "nowhere")), /There is no nowhere in memory/);
  });
});

test("the same backups pass as they are, encrypted or not, and without metadata", async () => {
  const encryption = { folder: keys, allowUnencrypted: true } as const;
  for (const facts of [plain, sealed]) {
    const checked = await jobs.check("3.7.3", facts.key, { encryption });
    assert.deepEqual([checked.sha256, checked.keys, checked.revision], [facts.sha256, 300, 301]);
  }
  jobs.store.objects.set("old_v12_2018-05-06-07:08:09", { bytes: bytesOf(plain), modified: 0 });
  const old = await jobs.check("3.7.3", "old_v12_2018-05-06-07:08:09");
  assert.deepEqual(
    [old.revision, old.exactRevision, old.takenAt, old.storageVersion, old.etcdVersion],
    [301, true, "2018-05-06T07:08:09.000Z", "3.7.0", ""],
  );
});

test("a scratch folder that is too small is a sentence", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "small-"));
  await run("mount", ["-t", "tmpfs", "-o", "size=128k", "tmpfs", folder]);
  try {
    const said = await jobs.fails("failed", jobs.checkJob("3.7.3", plain.key), { scratch: folder });
    assert.match(said, /There is no space left in/);
    const member = { name: "m0", peerUrl: "http://127.0.0.1:1", dataDir: path.join(folder, "data") };
    assert.match(await jobs.fails("failed", jobs.restoreJob(plain, "3.7.3", member)), /There is no space left in/);
  } finally {
    await run("umount", [folder]);
    await rm(folder, { recursive: true });
  }
});
