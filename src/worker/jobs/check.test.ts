// What a check proves: that the file is a sound database, of a version that may be served, with the keys that etcd served.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { describe, test } from "node:test";
import { MemoryStore } from "../../store/testing/memory-store.ts";
import type { BackupFacts, CheckJob, Result } from "../job.ts";
import { runJob } from "../program/run-job.ts";
import { FakeEtcdutl } from "../testing/fake-etcdutl.ts";
import { madeSnapshot, sha256Of } from "../testing/made-snapshot.ts";
import { testWorker } from "../testing/test-worker.ts";
import { snapshotStatus } from "./etcdutl.ts";
import { metadataKey } from "./kept/object-key.ts";
import type { Metadata } from "./kept/metadata.ts";

const key = "etcd/nightly_v10_2026-11-17-10:00:00";
const snapshot = madeSnapshot();
const recorded: Metadata = {
  formatVersion: 1,
  key,
  bytes: snapshot.length,
  sha256: sha256Of(snapshot),
  snapshotBytes: snapshot.length,
  takenAt: "2026-11-17T10:00:00.123Z",
  revision: 10,
  exactRevision: true,
  hash: { value: 7, revision: 10, compactRevision: 2 },
  etcdVersion: "3.6.16",
  clusterId: "cdf8",
  members: 3,
};

interface Checking {
  readonly metadata?: Partial<Metadata> | "none";
  readonly withoutHash?: boolean;
  readonly status?: object;
  /** By revision; 0: the latest. */
  readonly hashes?: Readonly<Record<number, object>>;
  readonly targetVersion?: string;
  readonly prepare?: (etcdutl: FakeEtcdutl) => Promise<void>;
}

interface Checked {
  readonly result: Result;
  readonly calls: readonly string[];
}

async function checked({
  metadata = {},
  withoutHash = false,
  status,
  hashes,
  targetVersion,
  prepare,
}: Checking = {}): Promise<Checked> {
  await using etcdutl = await FakeEtcdutl.make();
  await etcdutl.says("status", status ?? { revision: 10, totalKey: 5, version: "3.6.0" });
  for (const [revision, hash] of Object.entries(hashes ?? { 0: { hash: 7, hashRevision: 10, compactRevision: 2 } }))
    await etcdutl.says(revision === "0" ? "hashkv" : `hashkv-${Number(revision)}`, hash);
  await prepare?.(etcdutl);
  const store = new MemoryStore(() => Date.parse("2026-11-17T12:00:00Z"));
  store.objects.set(key, { bytes: snapshot, modified: Date.parse("2026-11-17T12:00:00Z") });
  if (metadata !== "none") {
    const text = JSON.stringify({ ...recorded, ...metadata, ...(withoutHash && { hash: undefined }) });
    store.objects.set(metadataKey(key), { bytes: Buffer.from(text), modified: 0 });
  }
  await using worker = await testWorker(store, { etcdutl: etcdutl.program });
  const job: CheckJob = {
    do: "check",
    store: { type: "PVC", folder: "/backups" },
    choice: { t: "key", key },
    targetVersion: targetVersion ?? "3.6.16",
    stalledAfterSeconds: 30,
  };
  const result = await runJob(job, worker);
  assert.deepEqual(await readdir(worker.scratch), []);
  return { result, calls: await etcdutl.calls() };
}

async function passes(checking?: Checking): Promise<BackupFacts> {
  const { result } = await checked(checking);
  assert.ok(result.ok && result.did.do === "check", JSON.stringify(result));
  return result.did.backup;
}

async function fails(code: string, words: RegExp, checking: Checking): Promise<void> {
  const { result } = await checked(checking);
  assert.ok(!result.ok, JSON.stringify(result));
  assert.deepEqual([result.code, words.test(result.message)], [code, true], result.message);
}

test("a backup that is proved has what its metadata says, and what the file says more exactly", async () => {
  assert.deepEqual(await passes({ metadata: { run: "run-1", cluster: { namespace: "a", name: "b", uid: "c" } } }), {
    key,
    bytes: snapshot.length,
    sha256: sha256Of(snapshot),
    snapshotBytes: snapshot.length,
    takenAt: "2026-11-17T10:00:00.123Z",
    revision: 10,
    exactRevision: true,
    hash: { value: 7, revision: 10, compactRevision: 2 },
    etcdVersion: "3.6.16",
    clusterId: "cdf8",
    members: 3,
    keys: 5,
    storageVersion: "3.6.0",
  });
});

test("a backup without metadata has what its key and the file say", async () => {
  const { takenAt, etcdVersion, clusterId, members, revision, keys, storageVersion, exactRevision } = await passes({
    metadata: "none",
    status: { revision: 10, totalKey: 5 },
  });
  assert.equal(takenAt, "2026-11-17T10:00:00.000Z");
  assert.deepEqual([etcdVersion, clusterId, members], ["", "", 0]);
  assert.deepEqual([revision, exactRevision, keys, storageVersion], [10, true, 5, undefined]);
});

test("the version of the data is that of its metadata where the file does not say it", async () => {
  const { storageVersion } = await passes({
    metadata: { storageVersion: "3.6.0" },
    status: { revision: 10, totalKey: 5 },
  });
  assert.equal(storageVersion, "3.6.0");
});

describe("the version that is to serve the backup", () => {
  const said = (version: string) => ({ revision: 10, totalKey: 5, version });

  test("is the one of the backup or a newer one", async () => {
    for (const targetVersion of ["3.6.0", "3.6.16", "3.7.3", "4.0.0"])
      await passes({ status: said("3.6.0"), targetVersion });
    await passes({ status: said("3.7.0"), targetVersion: "4.0.0" });
  });

  test("is not an older one", async () => {
    await fails("newerVersion", /is of etcd 3\.7, and etcd 3\.6\.16 is to serve it.* 3\.7 or newer/, {
      status: said("3.7.0"),
    });
    await fails("newerVersion", /is of etcd 4\.0/, { status: said("4.0.0"), targetVersion: "3.7.3" });
    await fails("newerVersion", /is of etcd 4\.0/, { status: said("4.0.0"), targetVersion: "3.0.0" });
  });

  test("may be 3.5 where the data does not say its own, whatever server was at work, and not before that", async () => {
    const silent = { revision: 10, totalKey: 5 };
    await passes({ status: silent, targetVersion: "3.5.35", metadata: { etcdVersion: "3.6.16" } });
    await passes({ status: silent, targetVersion: "3.5.35", metadata: { etcdVersion: "3.5.35" } });
    await passes({ status: silent, targetVersion: "3.4.23", metadata: { etcdVersion: "3.4.23" } });
    await fails("newerVersion", /is of etcd 3\.5/, {
      status: silent,
      targetVersion: "3.4.23",
      metadata: { etcdVersion: "3.6.16" },
    });
    await fails("newerVersion", /is of etcd 3\.5/, {
      status: silent,
      targetVersion: "3.4.23",
      metadata: { etcdVersion: "3.5.35" },
    });
    await passes({ status: silent, targetVersion: "3.4.23", metadata: "none" });
  });

  test("has to be one", () => fails("misconfigured", /^latest is not a version of etcd/, { targetVersion: "latest" }));
});

describe("what etcd served", () => {
  const latest = (hash: number, hashRevision = 10, compactRevision = 2) => ({ hash, hashRevision, compactRevision });

  test("has at least the revision that was recorded, and that very one where it was exact", async () => {
    const without = (more: Partial<Metadata> = {}) => ({ withoutHash: true, metadata: more });
    await fails("damaged", /its revision is 9, and 10 was recorded/, {
      ...without(),
      hashes: { 0: latest(7, 9) },
    });
    await fails("damaged", /its revision is 11, and 10 was recorded/, {
      ...without(),
      hashes: { 0: latest(7, 11) },
    });
    const later = await passes({ ...without({ exactRevision: false }), hashes: { 0: latest(7, 11) } });
    assert.deepEqual([later.revision, later.exactRevision], [11, true]);
    await fails("damaged", /its revision is 9/, {
      ...without({ exactRevision: false }),
      hashes: { 0: latest(7, 9) },
    });
  });

  test("has the hash that was recorded", () =>
    fails("damaged", /have the hash 8 at revision 10, and 7 was recorded/, { hashes: { 0: latest(8) } }));

  test("is hashed at the revision that was recorded where the file has more", async () => {
    const hash = { value: 7, revision: 10, compactRevision: 2 };
    const metadata = { exactRevision: false, hash };
    const { result, calls } = await checked({ metadata, hashes: { 0: latest(9, 12), 10: latest(7) } });
    assert.ok(result.ok, JSON.stringify(result));
    assert.deepEqual(
      calls.map((line) => line.replace(/\S*snapshot\.db/, "FILE")),
      [
        "snapshot status FILE --write-out=json",
        "hashkv FILE --write-out=json",
        "hashkv FILE --rev=10 --write-out=json",
      ],
    );
    await fails("damaged", /have the hash 8 at revision 10/, { metadata, hashes: { 0: latest(7, 12), 10: latest(8) } });
  });

  test("is hashed once where the file ends there", async () => {
    const { calls } = await checked();
    assert.equal(calls.filter((line) => line.startsWith("hashkv")).length, 1);
  });

  test("cannot be compared by its hash where etcd was compacted in between", async () => {
    await passes({ hashes: { 0: latest(8, 10, 3) } });
  });
});

describe("etcdutl", () => {
  test("that finds the file damaged says so in its own words", () =>
    fails("damaged", /etcdutl snapshot status says "invalid database"/, {
      prepare: (etcdutl) => etcdutl.fails("status", '{"level":"info"}\n\n  Error: invalid database\nmore\n'),
    }));

  test("that says nothing is quoted so", () =>
    fails("damaged", /says "nothing"/, { prepare: (etcdutl) => etcdutl.fails("status", "") }));

  test("that has no space left needs a larger volume", () =>
    fails("failed", /There is no space left/, {
      prepare: (etcdutl) => etcdutl.fails("status", "Error: write db: no space left on device"),
    }));

  test("that is killed ran out of memory", () =>
    fails("failed", /etcdutl hashkv \S+ was killed, probably because it ran out of memory/, {
      prepare: (etcdutl) => etcdutl.isKilled("hashkv"),
    }));

  test("that answers without a number is no etcdutl", async () => {
    await fails("failed", /has no totalKey/, { status: { revision: 10 } });
    await fails("failed", /has no hashRevision/, { hashes: { 0: { hash: 1, compactRevision: 1 } } });
    await fails("failed", /did not answer with an object/, { prepare: (etcdutl) => etcdutl.says("status", "7") });
    await fails("failed", /did not answer with an object/, { prepare: (etcdutl) => etcdutl.says("status", "null") });
  });

  test("that is not to be started any more says why", async () => {
    await using etcdutl = await FakeEtcdutl.make();
    const signal = AbortSignal.abort(new Error("SIGTERM"));
    await assert.rejects(snapshotStatus("file", { etcdutl: etcdutl.program, signal, scratch: etcdutl.folder }), {
      name: "AbortError",
    });
    assert.deepEqual(await etcdutl.calls(), []);
  });

  test("that is not in the image is a sentence", async () => {
    const store = new MemoryStore();
    store.objects.set(key, { bytes: snapshot, modified: 0 });
    await using worker = await testWorker(store, { etcdutl: "/nowhere/etcdutl" });
    const choice = { t: "key", key } as const;
    const job = { do: "check", store: { type: "PVC", folder: "/" }, choice, targetVersion: "3.6.16" } as const;
    const result = await runJob({ ...job, stalledAfterSeconds: 5 }, worker);
    assert.ok(!result.ok && result.code === "failed" && /image of the worker must have it/.test(result.message));
  });
});
