// What a restore leaves on the volume of a member: all of its data in one step, or nothing; and never twice.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { MemoryStore } from "../../store/testing/memory-store.ts";
import type { RestoreJob, Result } from "../job.ts";
import type { JobContext } from "../program/job-context.ts";
import { runJob } from "../program/run-job.ts";
import { FakeEtcdutl } from "../testing/fake-etcdutl.ts";
import { madeSnapshot, sha256Of } from "../testing/made-snapshot.ts";
import { testWorker } from "../testing/test-worker.ts";

const key = "etcd/nightly_v10_2026-11-17-10:00:00";
const snapshot = madeSnapshot();

let etcdutl: FakeEtcdutl;
let volume: string;
let dataDir: string;

beforeEach(async () => {
  etcdutl = await FakeEtcdutl.make();
  await etcdutl.says("status", { revision: 10, totalKey: 5, version: "3.6.0" });
  volume = await mkdtemp(path.join(tmpdir(), "volume-"));
  dataDir = path.join(volume, "data");
});
afterEach(async () => {
  await etcdutl[Symbol.asyncDispose]();
  await rm(volume, { recursive: true });
});

const jobFor = (changes: Partial<RestoreJob> = {}): RestoreJob => ({
  do: "restore",
  store: { type: "PVC", folder: "/backups" },
  key,
  sha256: sha256Of(snapshot),
  targetVersion: "3.6.16",
  member: { name: "demo-0", peerUrl: "http://demo-0:2380" },
  token: "restore-1",
  dataDir,
  bumpRevision: 0,
  stalledAfterSeconds: 30,
  ...changes,
});

interface Ran {
  readonly result: Result;
  /** How often the store was opened. */
  readonly opened: number;
}

async function restored(changes: Partial<RestoreJob> = {}, parts: Partial<JobContext> = {}): Promise<Ran> {
  const store = new MemoryStore();
  store.objects.set(key, { bytes: snapshot, modified: 0 });
  let opened = 0;
  const openStore = async (): Promise<MemoryStore> => {
    opened += 1;
    return store;
  };
  await using worker = await testWorker(store, { etcdutl: etcdutl.program, openStore, ...parts });
  const result = await runJob(jobFor(changes), worker);
  assert.deepEqual(await readdir(worker.scratch), []);
  return { result, opened };
}

async function fails(
  code: string,
  words: RegExp,
  changes?: Partial<RestoreJob>,
  parts?: Partial<JobContext>,
): Promise<void> {
  const { result } = await restored(changes, parts);
  assert.ok(!result.ok, JSON.stringify(result));
  assert.deepEqual([result.code, words.test(result.message)], [code, true], result.message);
}

const restoreCall = async (): Promise<readonly string[]> =>
  (await etcdutl.calls())
    .find((line) => line.startsWith("snapshot restore"))
    ?.split(" ")
    .slice(3) ?? [];

test("the data of a lone member appears in one step, for its user alone, and nothing beside it", async () => {
  // As a restore that was interrupted leaves it.
  await mkdir(`${dataDir}.restoring/member`, { recursive: true });
  await writeFile(`${dataDir}.restoring/member/half`, "");
  await mkdir(dataDir);
  const { result } = await restored();
  assert.ok(result.ok && result.did.do === "restore" && result.did.restored, JSON.stringify(result));
  const { sha256, revision, exactRevision, keys, storageVersion } = result.did.backup;
  assert.deepEqual(
    [sha256, revision, exactRevision, keys, storageVersion],
    [sha256Of(snapshot), 10, false, 5, "3.6.0"],
  );
  assert.deepEqual(await readdir(volume), ["data"]);
  assert.deepEqual(await readdir(path.join(dataDir, "member")), ["db"]);
  assert.deepEqual(await readFile(path.join(dataDir, "member/db")), snapshot);
  assert.equal((await stat(dataDir)).mode & 0o777, 0o700);
  assert.deepEqual(await restoreCall(), [
    `--data-dir=${dataDir}.restoring`,
    "--name=demo-0",
    "--initial-cluster=demo-0=http://demo-0:2380",
    "--initial-cluster-token=restore-1",
    "--initial-advertise-peer-urls=http://demo-0:2380",
  ]);
});

test("members that begin together have the same list, and revisions that go on behind what clients saw", async () => {
  const initialCluster = ["demo-0", "demo-1"].map((name) => ({ name, peerUrl: `http://${name}:2380` }));
  assert.ok((await restored({ initialCluster, bumpRevision: 1 })).result.ok);
  const flags = await restoreCall();
  assert.ok(flags.includes("--initial-cluster=demo-0=http://demo-0:2380,demo-1=http://demo-1:2380"), flags.join(" "));
  assert.deepEqual(flags.slice(-2), ["--bump-revision=1", "--mark-compacted"]);
});

test("what the check has proved is not read out of the file again", async () => {
  const proved = { revision: 10, keys: 4, storageVersion: "3.6.0" };
  const { result } = await restored({ proved });
  assert.ok(result.ok && result.did.do === "restore" && result.did.restored);
  assert.equal(result.did.backup.keys, 4);
  assert.deepEqual(
    (await etcdutl.calls()).map((line) => line.split(" ").slice(0, 2).join(" ")),
    ["snapshot restore"],
  );
});

describe("nothing is restored", () => {
  test("where the member has its data, and the store is not even opened", async () => {
    await mkdir(path.join(dataDir, "member"), { recursive: true });
    for (const restoring of ["allowed", "refused"] as const) {
      const { result, opened } = await restored({}, { restoring });
      assert.deepEqual(result, { ok: true, did: { do: "restore", restored: false } });
      assert.equal(opened, 0);
    }
    assert.deepEqual(await etcdutl.calls(), []);
  });

  test("where the member has started before and its data is gone", async () => {
    await fails("failed", /It must not be restored again/, {}, { restoring: "refused" });
    assert.deepEqual(await readdir(volume), []);
  });

  test("over files that are not a member's", async () => {
    await mkdir(dataDir);
    await writeFile(path.join(dataDir, "photos"), "");
    await fails("dataExists", /holds photos and no data of a member/);
    assert.deepEqual(await readdir(dataDir), ["photos"]);
  });

  test("from another object than the one that was checked", async () => {
    await fails("damaged", /is another object than the one that was checked/, { sha256: "00" });
    assert.deepEqual(await readdir(volume), []);
    assert.deepEqual(await etcdutl.calls(), []);
  });

  test("that the etcd which is to serve it does not know, proved before or not", async () => {
    await etcdutl.says("status", { revision: 10, totalKey: 5, version: "3.7.0" });
    await fails("newerVersion", /is of etcd 3\.7/);
    await fails("newerVersion", /is of etcd 3\.7/, { proved: { revision: 10, keys: 5, storageVersion: "3.7.0" } });
    assert.deepEqual(await readdir(volume), []);
  });

  test("of a snapshot that is no sound database, whichever of the two finds it", async () => {
    await etcdutl.fails("restore", "Error: invalid database\n");
    await fails("damaged", /etcdutl snapshot restore says "invalid database"/);
    assert.deepEqual(await readdir(volume), []);
    await etcdutl.fails("status", "Error: page 3 makes no sense\n");
    await fails("damaged", /etcdutl snapshot (status|restore) says/);
    assert.deepEqual(await readdir(volume), []);
  });

  test("on a volume that is full", async () => {
    await etcdutl.fails("restore", "Error: write: no space left on device\n");
    const { result } = await restored();
    assert.ok(!result.ok && result.message.includes(`There is no space left in ${volume}`), JSON.stringify(result));
    assert.deepEqual(await readdir(volume), []);
  });
});

test("a failure of one program ends the other one before its data is removed", async () => {
  await etcdutl.fails("status", "Error: page 3 makes no sense\n");
  await etcdutl.hangs("restore");
  await fails("damaged", /page 3 makes no sense/);
  assert.deepEqual(await readdir(volume), []);
});

test("a pod that is asked to end leaves nothing of data that is being made", async () => {
  await etcdutl.hangs("restore");
  const stop = new AbortController();
  const ran = restored({}, { signal: stop.signal });
  const deadline = Date.now() + 60_000;
  while (!etcdutl.isHanging("restore")) {
    assert.ok(Date.now() < deadline, `etcdutl was called with: ${(await etcdutl.calls()).join("; ")}`);
    await new Promise(setImmediate);
  }
  stop.abort(new Error("SIGTERM"));
  const { result } = await ran;
  assert.ok(!result.ok, JSON.stringify(result));
  assert.deepEqual(await readdir(volume), []);
});
