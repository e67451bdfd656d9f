import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { describe, test } from "node:test";
import type { EtcdMember } from "../../etcd/member.ts";
import type { Endpoint } from "../../etcd/members.ts";
import { FakeEtcd } from "../../etcd/testing/fake-etcd.ts";
import { TransportError } from "../../transport/errors.ts";
import type { BackupDone, BackupJob, FailureCode } from "../job.ts";
import { getMetadata } from "./kept/metadata.ts";
import { runJob } from "../program/run-job.ts";
import { headerBytes, readHeader } from "../../seal/format.ts";
import { MemoryStore } from "../../store/testing/memory-store.ts";
import { testWorker } from "../testing/test-worker.ts";
import type { JobContext } from "../program/job-context.ts";

const url = (name: string): string => `http://${name}.fake:2379`;

async function filled(version = "3.6.16"): Promise<FakeEtcd> {
  const etcd = new FakeEtcd({ name: "m0", peerUrl: "http://m0.fake:2380", clientUrl: url("m0") }, { version });
  for (let n = 0; n < 9; n += 1) await etcd.at(url("m0")).put(`key/${n}`, "value");
  return etcd;
}

const job: BackupJob = {
  do: "backup",
  owner: { namespace: "ns", name: "nightly" },
  run: "run-1",
  source: { endpoints: [url("m0")] },
  store: { type: "PVC", folder: "/backups" },
  key: { t: "series", path: "etcd/nightly" },
  startedAt: "2026-11-17T10:00:00.123Z",
  stalledAfterSeconds: 5,
};
const key = "etcd/nightly_v10_2026-11-17-10:00:00";

type At = (endpoint: Endpoint) => EtcdMember;

async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function run(
  store: MemoryStore,
  etcd: FakeEtcd | At,
  changes: Partial<BackupJob> = {},
  parts: Partial<JobContext> = {},
) {
  const at = etcd instanceof FakeEtcd ? (endpoint: Endpoint) => etcd.at(endpoint.url, endpoint.login) : etcd;
  await using worker = await testWorker(store, { members: { at }, ...parts });
  const result = await runJob({ ...job, ...changes }, worker);
  return { result, log: worker.lines.join("") };
}

async function backedUp(store: MemoryStore, etcd: FakeEtcd | At, changes?: Partial<BackupJob>): Promise<BackupDone> {
  const { result } = await run(store, etcd, changes);
  assert.ok(result.ok && result.did.do === "backup", JSON.stringify(result));
  return result.did;
}

async function fails(
  code: FailureCode,
  store: MemoryStore,
  etcd: FakeEtcd | At,
  changes?: Partial<BackupJob>,
): Promise<string> {
  const { result } = await run(store, etcd, changes);
  assert.ok(!result.ok, JSON.stringify(result));
  assert.equal(result.code, code, result.message);
  return result.message;
}

/** The same member, with some calls done otherwise. */
const altered = (member: EtcdMember, changes: Partial<EtcdMember>): EtcdMember =>
  new Proxy(member, {
    get: (target, name) => Reflect.get({ ...changes }, name) ?? Reflect.get(target, name),
  });

describe("a backup", () => {
  test("is an object, and beside it what is known of it", async () => {
    const store = new MemoryStore();
    const { backup, count, deleted } = await backedUp(store, await filled());
    assert.deepEqual([...store.objects.keys()].sort(), [key, `${key}.json`]);
    const object = store.objects.get(key)!.bytes;
    const { clusterId: _, hash, snapshotAt = "", ...facts } = backup;
    assert.ok(Math.abs(Date.now() - Date.parse(snapshotAt)) < 60_000, snapshotAt);
    assert.deepEqual(facts, {
      key,
      bytes: object.length,
      sha256: createHash("sha256").update(object).digest("hex"),
      snapshotBytes: object.length,
      takenAt: job.startedAt,
      current: true,
      revision: 10,
      exactRevision: true,
      etcdVersion: "3.6.16",
      storageVersion: "3.6.0",
      members: 1,
      auth: false,
      owner: job.owner,
    });
    assert.deepEqual({ ...hash, value: 0 }, { value: 0, revision: 10, compactRevision: 0 });
    assert.deepEqual({ count, deleted }, { count: 1, deleted: 0 });
    assert.deepEqual(await getMetadata(store, key, {}), { formatVersion: 1, run: "run-1", ...backup });
  });

  test("that is made once has the path for its key, and replaces what was there", async () => {
    const store = new MemoryStore();
    const once = { key: { t: "once", path: "etcd/one" } } as const;
    await backedUp(store, await filled(), { ...once, run: "run-0" });
    assert.equal((await backedUp(store, await filled(), once)).backup.key, "etcd/one");
    assert.deepEqual([...store.objects.keys()].sort(), ["etcd/one", "etcd/one.json"]);
  });

  test("of a server without HashKV has no hash", async () => {
    const { hash, auth } = (await backedUp(new MemoryStore(), await filled("3.2.13"))).backup;
    assert.deepEqual({ hash, auth }, { hash: undefined, auth: undefined });
  });

  test("during which etcd is written to says that its revision is not exact", async () => {
    const etcd = await filled();
    const m0 = etcd.at(url("m0"));
    const writing = altered(m0, {
      snapshot: async (onChunk, call) => {
        await m0.put("late", "value");
        return m0.snapshot(onChunk, call);
      },
    });
    const { backup } = await backedUp(new MemoryStore(), () => writing);
    assert.deepEqual([backup.revision, backup.exactRevision, backup.hash?.revision], [10, false, 10]);
  });

  test("during which etcd is compacted has no hash: it could not be compared", async () => {
    const etcd = await filled();
    const m0 = etcd.at(url("m0"));
    const compacting = altered(m0, {
      snapshot: async (onChunk, call) => {
        await m0.compact(8);
        return m0.snapshot(onChunk, call);
      },
    });
    assert.equal((await backedUp(new MemoryStore(), () => compacting)).backup.hash, undefined);
  });

  test("is made where one endpoint is dead, and not where all are", async () => {
    const endpoints = [url("nobody"), url("m0")];
    const etcd = await filled();
    await backedUp(new MemoryStore(), etcd, { source: { endpoints } });
    const said = await fails("etcd", new MemoryStore(), etcd, { source: { endpoints: [url("nobody")] } });
    assert.match(said, /No endpoint of etcd answers.*nobody/);
  });

  test("comes from the next member if the best breaks off before its first byte, and not after it", async () => {
    const etcd = await filled();
    const m0 = etcd.at(url("m0"));
    const breaking = (when: "before" | "after"): EtcdMember =>
      altered(m0, {
        snapshot: async (onChunk) => {
          if (when === "after") await onChunk(Buffer.alloc(512));
          throw new TransportError("broken", "the stream broke off");
        },
      });
    const endpoints = { source: { endpoints: [url("m1"), url("m0")] } };
    const store = new MemoryStore();
    const among =
      (broken: EtcdMember): At =>
      ({ url: at }) =>
        at === url("m1") ? broken : m0;
    await backedUp(store, among(breaking("before")), endpoints);
    store.objects.clear();
    const said = await fails("etcd", store, among(breaking("after")), endpoints);
    assert.match(said, /broke off/);
    assert.equal(store.objects.size, 0);
  });

  test("that stands still is given up, and leaves nothing", async () => {
    const etcd = await filled();
    const m0 = etcd.at(url("m0"));
    const silent = altered(m0, {
      snapshot: async (onChunk, call) => {
        await onChunk(Buffer.alloc(512));
        return new Promise((_, reject) =>
          call?.signal?.addEventListener("abort", () => reject(new Error("the call was aborted"))),
        );
      },
    });
    const store = new MemoryStore();
    assert.match(await fails("stalled", store, () => silent, { stalledAfterSeconds: 1 }), /stood still for 1 s/);
    assert.equal(store.objects.size, 0);
  });

  test("that comes back otherwise than it was written is deleted again, and the failure says so", async () => {
    class Forgetful extends MemoryStore {
      override async get(...[of, call]: Parameters<MemoryStore["get"]>) {
        const stored = this.objects.get(of);
        if (stored && !of.endsWith(".json")) stored.bytes = stored.bytes.subarray(0, -1);
        return super.get(of, call);
      }
    }
    const store = new Forgetful();
    const said = await fails("store", store, await filled());
    assert.match(said, /could not be proved.*not what was written.*deleted again/);
    assert.equal(store.objects.size, 0);
  });

  test("whose metadata cannot be written is deleted again", async () => {
    class Full extends MemoryStore {
      override async put(...[of, body, options]: Parameters<MemoryStore["put"]>) {
        // What is written before the object says only whose it will be.
        if (of.endsWith(".json") && this.objects.has(of.slice(0, -5))) this.fail("full", { to: "write" });
        return super.put(of, body, options);
      }
    }
    const store = new Full();
    assert.match(await fails("store", store, await filled()), /deleted again/);
    assert.equal(store.objects.size, 0);
  });

  test("whose worker dies before it could describe the object is no backup, and goes with the next one", async () => {
    const [first, second] = [new MemoryStore(), new MemoryStore()];
    const etcd = await filled();
    await backedUp(first, etcd);
    // As it is the moment after the object became visible.
    const claim = { formatVersion: 1, key, unfinished: true, owner: job.owner };
    for (const [at, bytes] of first.objects) second.objects.set(at, bytes);
    await second.put(`${key}.json`, bodyOf(JSON.stringify(claim)), {});
    const next = { run: "run-2", startedAt: "2026-11-17T11:00:00Z" };
    const retention = { maxBackups: 5, maxAgeSeconds: 0, keep: [] };
    const done = await backedUp(second, etcd, { ...next, retention });
    assert.deepEqual([done.deleted, done.count], [1, 1]);
    assert.deepEqual([...second.objects.keys()].sort(), [done.backup.key, `${done.backup.key}.json`]);
  });

  test("that is begun by somebody else at the same place is not touched by retention", async () => {
    const store = new MemoryStore();
    const other = "etcd/nightly_v3_2026-11-17-09:00:00";
    const claim = { formatVersion: 1, key: other, unfinished: true, owner: { namespace: "ns", name: "weekly" } };
    await store.put(other, bodyOf("half"), {});
    await store.put(`${other}.json`, bodyOf(JSON.stringify(claim)), {});
    await backedUp(store, await filled(), { retention: { maxBackups: 1, maxAgeSeconds: 1, keep: [] } });
    assert.ok(store.objects.has(other) && store.objects.has(`${other}.json`));
  });

  test("that an earlier pod of the same run has finished is not made again", async () => {
    const store = new MemoryStore();
    const etcd = await filled();
    const first = await backedUp(store, etcd);
    await etcd.at(url("m0")).put("later", "value");
    assert.deepEqual((await backedUp(store, etcd)).backup, first.backup);
    assert.equal(store.objects.size, 2);
    await backedUp(store, etcd, { run: "run-2", startedAt: "2026-11-17T11:00:00Z" });
    assert.equal(store.objects.size, 4);
  });

  test("does not replace one of another EtcdBackup with the same path", async () => {
    const store = new MemoryStore();
    const etcd = await filled();
    await backedUp(store, etcd);
    const said = await fails("misconfigured", store, etcd, { owner: { namespace: "ns", name: "weekly" } });
    assert.match(said, /ns\/nightly/);
  });

  test("is encrypted where there is a key, and shows nothing of etcd or of the key", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "keys-"));
    try {
      const secret = randomBytes(32).toString("hex");
      await writeFile(path.join(folder, "2026"), secret);
      const store = new MemoryStore();
      const cluster = { namespace: "ns", name: "prod", uid: "u-1" };
      const { result, log } = await run(store, await filled(), { encryption: { folder }, cluster });
      assert.ok(result.ok && result.did.do === "backup");
      const { keyId, bytes, snapshotBytes } = result.did.backup;
      assert.equal(keyId, "2026");
      assert.ok(bytes > snapshotBytes);
      const object = Buffer.from(store.objects.get(key)!.bytes);
      assert.ok(!object.includes("key/1") && !`${log}${JSON.stringify(result)}`.includes(secret));
      // What it is a copy of stands in the object, as beside it.
      const { of } = readHeader(object.subarray(0, headerBytes(object)));
      const { clusterId, revision, takenAt, snapshotAt } = result.did.backup;
      assert.deepEqual(of, { key, clusterId, revision, takenAt, snapshotAt, cluster });
      await fails("keyMissing", new MemoryStore(), await filled(), { encryption: { folder, keyId: "2025" } });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("ends the uploads that a worker before it left behind, and none that may be of others", async () => {
    const store = new MemoryStore();
    for (const left of [`${job.key.path}_v1_2026-11-17-09:00:00`, `${job.key.path}-eu`]) {
      store.leftovers.push(left);
      const claim = { formatVersion: 1, key: left, unfinished: true, owner: job.owner };
      await store.put(`${left}.json`, bodyOf(JSON.stringify(claim)), {});
    }
    await backedUp(store, await filled());
    await backedUp(store, await filled(), { key: { t: "once", path: job.key.path } });
    assert.deepEqual(store.leftovers, [`${job.key.path}-eu`]);
  });

  test("is made where leftovers may not be looked for", async () => {
    const store = new MemoryStore();
    store.fail("forbidden", { to: "clean up" });
    await backedUp(store, await filled());
  });

  test("that an earlier pod of the same run has left damaged is made again", async () => {
    const store = new MemoryStore();
    const etcd = await filled();
    const { backup } = await backedUp(store, etcd);
    store.objects.get(key)!.bytes = Buffer.from("damaged");
    assert.equal((await backedUp(store, etcd)).backup.sha256, backup.sha256);
    assert.notEqual(Buffer.from(store.objects.get(key)!.bytes).toString(), "damaged");
  });

  test("whose process is asked to end leaves nothing", async () => {
    const etcd = await filled();
    const end = new AbortController();
    const m0 = etcd.at(url("m0"));
    const ending = altered(m0, {
      snapshot: async (onChunk, call) => {
        end.abort(new Error("The process was asked to end by SIGTERM"));
        return m0.snapshot(onChunk, call);
      },
    });
    const store = new MemoryStore();
    const { result } = await run(store, () => ending, {}, { signal: end.signal });
    assert.ok(!result.ok && /asked to end/.test(result.message), JSON.stringify(result));
    assert.equal(store.objects.size, 0);
  });
});
