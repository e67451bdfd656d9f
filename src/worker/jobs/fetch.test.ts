// What a reader accepts: plain or encrypted objects, with or without keys, under their own key or another.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { bytesInWords } from "../../kube/objects/size.ts";
import * as fc from "fast-check";
import { SealKey } from "../../seal/key.ts";
import { seal } from "../../seal/seal.ts";
import type { SealedOf } from "../../seal/sealed-of.ts";
import { MemoryStore } from "../../store/testing/memory-store.ts";
import type { Encryption } from "../job.ts";
import { WorkerFailure } from "../program/failure.ts";
import { testWorker } from "../testing/test-worker.ts";
import { type Fetched, withFetched } from "./fetch.ts";
import { metadataKey } from "./kept/object-key.ts";

const database = randomBytes(8192);
const snapshot = Buffer.concat([database, createHash("sha256").update(database).digest()]);
const key = new SealKey("2026", randomBytes(32));
const of = {
  key: "prod/etcd_v7_2026-11-17-10:00:00",
  clusterId: "cdf8",
  cluster: { namespace: "prod", name: "example", uid: "u-1" },
  revision: 7,
  takenAt: "2026-11-17T10:00:00.000Z",
  snapshotAt: "2026-11-17T10:00:03.000Z",
} satisfies SealedOf;
let folder: string;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "keys-"));
  await writeFile(path.join(folder, key.id), key.bytes);
});
after(() => rm(folder, { recursive: true }));

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function encrypted(as: SealedOf = of): Promise<Buffer> {
  const made: Uint8Array[] = [];
  for await (const piece of seal(once(snapshot), key, as)) made.push(piece);
  return Buffer.concat(made);
}

type Reading = Partial<Omit<Encryption, "folder">>;

async function fetched(bytes: Uint8Array, name: string, reading?: Reading, metadata?: object): Promise<Fetched> {
  const store = new MemoryStore();
  store.objects.set(name, { bytes, modified: 0 });
  if (metadata) {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const about = { etcdVersion: "3.6.16", members: 1, snapshotBytes: snapshot.length, exactRevision: true, sha256 };
    const text = JSON.stringify({ formatVersion: 1, key: name, bytes: bytes.length, ...about, ...metadata });
    store.objects.set(metadataKey(name), { bytes: Buffer.from(text), modified: 0 });
  }
  await using worker = await testWorker(store);
  const wanted = { key: name, stalledAfterSeconds: 5, ...(reading && { encryption: { folder, ...reading } }) };
  return await withFetched(wanted, store, worker, async (found) => found);
}

const refused = (fetching: Promise<unknown>, said: RegExp, code = "tampered"): Promise<void> =>
  assert.rejects(fetching, (error) => {
    assert.ok(error instanceof WorkerFailure, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, said);
    return true;
  });

describe("a backup that is", () => {
  test("plain is read where no keys are given", async () => {
    assert.equal((await fetched(snapshot, "a")).keyId, undefined);
  });

  test("plain is refused where keys are given, with the field that allows it", () =>
    refused(fetched(snapshot, "a", {}), /a is not encrypted.*spec\.encryption\.allowUnencrypted/));

  test("plain is read where keys are given and that is allowed", async () => {
    assert.equal((await fetched(snapshot, "a", { allowUnencrypted: true })).keyId, undefined);
  });

  test("plain is refused whatever it begins with, as long as that is not the mark of an encrypted one", () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), (bytes) => refused(fetched(bytes, "a", {}), /not encrypted/)),
      { numRuns: 20 },
    ));

  test("encrypted is refused where no keys are given", async () =>
    refused(fetched(await encrypted(), of.key), /encrypted with the key 2026\. Name the Secret/, "keyMissing"));

  test("encrypted is read with its key, whether plain ones are allowed or not", async () => {
    for (const reading of [{}, { allowUnencrypted: true as const }]) {
      const found = await fetched(await encrypted(), of.key, reading);
      assert.deepEqual([found.keyId, found.of, found.snapshotBytes], ["2026", of, snapshot.length]);
    }
  });
});

describe("an encrypted backup under another key than its own", () => {
  const copy = "copy/etcd_v7_2026-11-17-10:00:00";

  test("is refused, with the key that it had and the field that allows it", async () => {
    const said = new RegExp(
      `${copy} was encrypted under the key ${of.key}.*spec\\.encryption\\.originalKey.* to ${of.key}`,
    );
    await refused(fetched(await encrypted(), copy, {}), said);
    await refused(
      fetched(await encrypted(), "prod/etcd_v9_2026-11-18-10:00:00", { allowUnencrypted: true }),
      /under the key/,
    );
  });

  test("is refused whatever that is", () =>
    fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[a-z][a-z_-]{1,40}$/), async (name) => {
        fc.pre(name !== of.key);
        await refused(fetched(await encrypted(), name, {}), /under the key/);
      }),
      { numRuns: 30 },
    ));

  test("is read where the original is named, by its key or by the beginning of its series", async () => {
    for (const copied of [
      { path: copy, originalKey: of.key },
      { path: "copy/etcd", originalKey: of.key },
      { path: "copy/etcd", originalKey: "prod/etcd" },
    ])
      assert.deepEqual((await fetched(await encrypted(), copy, { copied })).of, of);
  });

  test("is refused where another original is named", async () => {
    for (const copied of [
      { path: copy, originalKey: "prod/etcd_v8_2026-11-18-10:00:00" },
      { path: "copy/etcd", originalKey: "prod/other" },
      { path: "copy/other", originalKey: "prod/etcd" },
    ])
      await refused(fetched(await encrypted(), copy, { copied }), /not under prod/);
    const copied = { path: "copy/etcd", originalKey: "prod/other" };
    await refused(fetched(await encrypted(), copy, { copied }), /not under prod\/other_v7_/);
  });
});

describe("an encrypted backup that an EtcdBackup stands for", () => {
  test("is read when it is of that EtcdCluster, made again under its name or not, or does not say of which it is", async () => {
    const cluster = { namespace: "prod", name: "example" };
    for (const as of [of, { ...of, cluster: { ...of.cluster, uid: "u-2" } }, { key: of.key }])
      assert.deepEqual((await fetched(await encrypted(as), of.key, { cluster })).of, as);
  });

  test("is refused when it is of another", async () => {
    for (const cluster of [
      { namespace: "prod", name: "other" },
      { namespace: "test", name: "example" },
    ])
      await refused(
        fetched(await encrypted(), of.key, { cluster }),
        /of the EtcdCluster prod\/example.*spec\.backupStorageType/,
      );
  });
});

describe("metadata beside an encrypted backup", () => {
  const { key: _, ...said } = of;

  test("that says the same is taken, also where it says less", async () => {
    for (const metadata of [said, { ...said, cluster: undefined }])
      assert.equal((await fetched(await encrypted(), of.key, {}, metadata)).metadata?.revision, 7);
  });

  test("that says something else was changed", async () => {
    for (const [field, other] of Object.entries({
      clusterId: "other",
      revision: 8,
      takenAt: "2026-11-18T10:00:00.000Z",
      snapshotAt: "2026-11-17T09:59:00.000Z",
      cluster: { ...of.cluster, namespace: "test" },
    }))
      await refused(
        fetched(await encrypted(), of.key, {}, { ...said, [field]: other }),
        /\.json was changed after it was written/,
      );
    for (const cluster of [
      { ...of.cluster, name: "b" },
      { ...of.cluster, uid: "u-2" },
    ])
      await refused(fetched(await encrypted(), of.key, {}, { ...said, cluster }), /was changed/);
  });
});

test("what is larger than the scratch volume may become is refused in the middle, and nothing is left", async () => {
  const store = new MemoryStore();
  store.objects.set("a", { bytes: snapshot, modified: 0 });
  await using small = await testWorker(store, { scratchBytes: snapshot.length - 1 });
  const wanted = { key: "a", stalledAfterSeconds: 5 };
  await assert.rejects(
    withFetched(wanted, store, small, async () => undefined),
    (error: unknown) =>
      error instanceof WorkerFailure &&
      error.code === "misconfigured" &&
      error.message.includes(`${bytesInWords(snapshot.length - 1)}: raise spec.worker.scratchSize`),
  );
  assert.deepEqual(await readdir(small.scratch), []);
  await using enough = await testWorker(store, { scratchBytes: snapshot.length });
  assert.equal((await withFetched(wanted, store, enough, async (found) => found)).bytes, snapshot.length);
});
