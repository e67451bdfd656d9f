// A backup is of one cluster at one moment: what is of another cluster, older than what is kept, or not proved, neither
// replaces a backup, nor prunes one, nor is chosen in its place.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EtcdMember } from "../../../etcd/member.ts";
import type { Endpoint } from "../../../etcd/members.ts";
import { EtcdError } from "../../../etcd/errors.ts";
import { FakeEtcd } from "../../../etcd/testing/fake-etcd.ts";
import { MemoryStore } from "../../../store/testing/memory-store.ts";
import type { BackupDone, BackupJob, Choice, Result } from "../../job.ts";
import { runJob } from "../../program/run-job.ts";
import { WorkerFailure } from "../../program/failure.ts";
import type { JobContext } from "../../program/job-context.ts";
import { testWorker } from "../../testing/test-worker.ts";
import { chooseKey } from "./choose.ts";
import { deleteOwned } from "../delete.ts";

const url = "http://m0.fake:2379";
const day = Date.parse("2026-11-17T00:00:00Z");
const path = "etcd/nightly";
const mine = { namespace: "ns", name: "nightly" };
const first = { namespace: "ns", name: "prod", uid: "uid-1" };
const second = { ...first, uid: "uid-2" };

async function etcdWith(keys: number, token: string): Promise<FakeEtcd> {
  const etcd = new FakeEtcd({ name: "m0", peerUrl: "http://m0.fake:2380", clientUrl: url }, { token });
  for (let n = 0; n < keys; n += 1) await etcd.at(url).put(`key/${n}`, "value");
  return etcd;
}

/** The same member, with some calls done otherwise. */
const altered = (member: EtcdMember, changes: Partial<EtcdMember>): EtcdMember =>
  new Proxy(member, { get: (target, name) => Reflect.get({ ...changes }, name) ?? Reflect.get(target, name) });

/** Runs begin at full hours; the snapshot is taken `late` milliseconds later, by the worker's clock. */
interface Run extends Partial<BackupJob> {
  readonly hour: number;
  readonly late?: number;
}

async function attempt(store: MemoryStore, etcd: FakeEtcd | EtcdMember, { hour, late = 0, ...changes }: Run) {
  const member = (endpoint: Endpoint): EtcdMember => (etcd instanceof FakeEtcd ? etcd.at(endpoint.url) : etcd);
  const time = (): number => day + hour * 3600_000 + late;
  await using worker = await testWorker(store, { members: { at: member }, time });
  const job: BackupJob = {
    do: "backup",
    owner: mine,
    run: `run-${hour}`,
    source: { endpoints: [url] },
    store: { type: "PVC", folder: "/backups" },
    key: { t: "series", path },
    startedAt: new Date(day + hour * 3600_000).toISOString(),
    cluster: first,
    stalledAfterSeconds: 5,
    ...changes,
  };
  return await runJob(job, worker);
}

function done(result: Result): BackupDone {
  assert.ok(result.ok && result.did.do === "backup", JSON.stringify(result));
  return result.did;
}

const backedUp = async (store: MemoryStore, etcd: FakeEtcd | EtcdMember, run: Run): Promise<BackupDone> =>
  done(await attempt(store, etcd, run));

const keep = (maxBackups: number): Partial<BackupJob> => ({ retention: { maxBackups, maxAgeSeconds: 0, keep: [] } });

async function chosen(store: MemoryStore, choice: Partial<Extract<Choice, { t: "newest" }>> = {}): Promise<string> {
  await using worker: JobContext & AsyncDisposable = await testWorker(store);
  return await chooseKey({ t: "newest", path, ...choice }, store, worker);
}

const refusal = async (choosing: Promise<string>): Promise<string> => {
  const error: unknown = await choosing.then(
    (key) => assert.fail(`${key} was chosen`),
    (error: unknown) => error,
  );
  assert.ok(error instanceof WorkerFailure, String(error));
  return error.message;
};

describe("a cluster that was lost and made again under the same name", () => {
  async function lostAndMadeAnew(changes: Partial<BackupJob> = {}) {
    const store = new MemoryStore();
    const good = await etcdWith(9, "1");
    const kept: string[] = [];
    for (const hour of [1, 2]) kept.push((await backedUp(store, good, { hour, ...keep(2) })).backup.key);
    const empty = await etcdWith(0, "2");
    const runs: BackupDone[] = [];
    for (const hour of [3, 4, 5])
      runs.push(await backedUp(store, empty, { hour, cluster: second, ...keep(2), ...changes }));
    return { store, kept, runs, good, empty };
  }

  test("costs none of the good backups, and every run says why nothing is deleted", async () => {
    const { store, kept, runs } = await lostAndMadeAnew();
    for (const key of kept) assert.ok(store.objects.has(key) && store.objects.has(`${key}.json`), key);
    for (const { deleted, held = "" } of runs) {
      assert.equal(deleted, 0);
      assert.match(held, /another etcd cluster/);
      assert.ok(held.includes(kept[1] ?? "") && held.includes("releaseBefore to 2026-11-17T02:00:01Z"), held);
    }
  });

  test("is not what a restore takes by itself: the sentence lists both", async () => {
    const { store, kept, runs } = await lostAndMadeAnew();
    for (const owner of [undefined, mine]) {
      const said = await refusal(chosen(store, owner && { owner }));
      for (const key of [kept[1] ?? "", runs[2]?.backup.key ?? ""]) assert.ok(said.includes(key), said);
      assert.match(said, /ns\/prod.*Name the one to restore/);
    }
    assert.equal(await chosen(store, { before: "2026-11-17T02:30:00Z" }), kept[1]);
  });

  test("goes on with the series once a person says so", async () => {
    const { store, runs, empty } = await lostAndMadeAnew();
    const releasedBefore = "2026-11-17T02:00:01Z";
    const last = await backedUp(store, empty, { hour: 6, cluster: second, ...keep(2), releasedBefore });
    assert.deepEqual([last.held, last.deleted, last.count], [undefined, 4, 2]);
    assert.equal(await chosen(store), last.backup.key);
    assert.ok(store.objects.has(runs[2]?.backup.key ?? ""));
  });

  test("is noticed where nothing is pruned, too", async () => {
    const store = new MemoryStore();
    await backedUp(store, await etcdWith(9, "1"), { hour: 1 });
    assert.match(
      (await backedUp(store, await etcdWith(0, "2"), { hour: 2, cluster: second })).held ?? "",
      /another etcd/,
    );
  });

  test("is noticed by its revision where its id is the same, as with a fixed token", async () => {
    const store = new MemoryStore();
    const { cluster: _, ...unknown } = { cluster: undefined };
    const good = await backedUp(store, await etcdWith(9, "1"), { hour: 1, ...unknown });
    const { held = "", deleted } = await backedUp(store, await etcdWith(0, "1"), { hour: 2, ...keep(1) });
    assert.equal(deleted, 0);
    assert.ok(held.includes(good.backup.key) && /revision/.test(held), held);
  });

  test("does not replace the lone backup of the old one", async () => {
    const store = new MemoryStore();
    const once = { key: { t: "once", path } } as const;
    const { backup } = await backedUp(store, await etcdWith(9, "1"), { hour: 1, ...once });
    const result = await attempt(store, await etcdWith(0, "2"), { hour: 2, cluster: second, ...once });
    assert.ok(!result.ok && result.code === "misconfigured", JSON.stringify(result));
    assert.match(result.message, /another etcd cluster.*path of its own/);
    assert.equal(store.objects.get(path)?.bytes.length, backup.bytes);
  });
});

test("a restore in place continues the series: the same EtcdCluster, another cluster id, a higher revision", async () => {
  const store = new MemoryStore();
  await backedUp(store, await etcdWith(3, "1"), { hour: 1, ...keep(1) });
  const restored = await backedUp(store, await etcdWith(9, "restored"), { hour: 2, ...keep(1) });
  assert.deepEqual([restored.held, restored.deleted, restored.count], [undefined, 1, 1]);
  assert.equal(await chosen(store), restored.backup.key);
});

describe("two EtcdBackups of two namespaces with one path", () => {
  const theirs = {
    owner: { namespace: "other", name: "nightly" },
    cluster: { ...first, namespace: "other", uid: "x" },
  };

  test("a restore by EtcdBackup takes its own, and one by path alone is refused", async () => {
    const store = new MemoryStore();
    const own = await backedUp(store, await etcdWith(3, "1"), { hour: 1 });
    const other = await backedUp(store, await etcdWith(9, "2"), { hour: 2, ...theirs });
    assert.equal(await chosen(store, { owner: mine }), own.backup.key);
    assert.equal(await chosen(store, { owner: theirs.owner }), other.backup.key);
    const said = await refusal(chosen(store));
    assert.ok(said.includes("other/prod") && said.includes(own.backup.key), said);
    assert.match(await refusal(chosen(store, { owner: { namespace: "third", name: "nightly" } })), /no backup/);
  });

  test("neither counts the other's", async () => {
    const store = new MemoryStore();
    for (const hour of [1, 2]) await backedUp(store, await etcdWith(9, "2"), { hour, ...theirs });
    const { held, deleted, count } = await backedUp(store, await etcdWith(3, "1"), { hour: 3, ...keep(1) });
    assert.deepEqual([held, deleted, count], [undefined, 0, 1]);
  });
});

describe("a member that lags behind, or is alone", () => {
  test("makes a backup that prunes none with a higher revision, and that no restore takes in its place", async () => {
    const store = new MemoryStore();
    const etcd = await etcdWith(9, "1");
    const good = await backedUp(store, etcd, { hour: 1, ...keep(1) });
    const m0 = etcd.at(url);
    const lagging = altered(m0, { status: async (call) => ({ ...(await m0.status(call)), revision: 5 }) });
    const { held = "", deleted } = await backedUp(store, lagging, { hour: 2, ...keep(1) });
    assert.equal(deleted, 0);
    assert.ok(held.includes(good.backup.key), held);
    assert.equal(await chosen(store), good.backup.key);
  });

  test("prunes nothing while it cannot read through a quorum, and says so", async () => {
    const store = new MemoryStore();
    const etcd = await etcdWith(9, "1");
    await backedUp(store, etcd, { hour: 1, ...keep(1) });
    const error = new EtcdError("timeout", "range", "etcdserver: request timed out");
    const alone = altered(etcd.at(url), { health: async () => ({ t: "unhealthy", error }) });
    const { held = "", deleted, backup } = await backedUp(store, alone, { hour: 2, ...keep(1) });
    assert.deepEqual([deleted, backup.current], [0, false]);
    assert.match(held, /quorum/);
    const next = await backedUp(store, etcd, { hour: 3, ...keep(1) });
    assert.deepEqual([next.held, next.deleted], [undefined, 2]);
  });
});

test("clocks: one that was set back costs none of the newest backups, and a restore takes the newest", async () => {
  const store = new MemoryStore();
  const etcd = await etcdWith(3, "1");
  let last = "";
  for (const hour of [10, 11, 4, 5, 6]) {
    await etcd.at(url).put("more", "value");
    last = (await backedUp(store, etcd, { hour, ...keep(2) })).backup.key;
  }
  const left = [...store.objects.keys()].filter((key) => !key.endsWith(".json")).toSorted();
  assert.deepEqual(left, ["etcd/nightly_v8_2026-11-17-05:00:00", last].toSorted());
  assert.equal(await chosen(store), last);
});

describe("uploads that were left behind", () => {
  const leftBehind = async (store: MemoryStore, key: string, owner: BackupJob["owner"]): Promise<void> => {
    store.leftovers.push(key);
    const claim = Buffer.from(JSON.stringify({ formatVersion: 1, key, unfinished: true, owner }));
    store.objects.set(`${key}.json`, { bytes: claim, modified: 0 });
  };

  test("are ended by whoever began them, and by nobody else, however alike the names begin", async () => {
    const store = new MemoryStore();
    const own = `${path}_v1_2026-11-17-00:30:00`;
    const others = [`${path}_v2_v1_2026-11-17-00:30:00`, `${path}_vault`, `${path}_v2_2026-11-17-00:40:00`];
    await leftBehind(store, own, mine);
    for (const key of others) await leftBehind(store, key, { namespace: "other", name: "nightly" });
    await backedUp(store, await etcdWith(3, "1"), { hour: 1 });
    assert.deepEqual(store.leftovers, others);
    await leftBehind(store, own, mine);
    await using worker = await testWorker(store);
    const target = { type: "PVC", folder: "/backups" } as const;
    await deleteOwned({ do: "delete", owner: mine, store: target, key: { t: "series", path } }, store, worker);
    assert.deepEqual(store.leftovers, others);
  });
});

describe("a lone backup that replaces one", () => {
  const once = { key: { t: "once", path } } as const;
  const staged = `${path}.next`;

  /** Counts the calls that change the store, and dies at the one that is asked for. */
  class Dying extends MemoryStore {
    left = Infinity;

    override async put(...args: Parameters<MemoryStore["put"]>): Promise<void> {
      this.#count();
      return await super.put(...args);
    }

    override async delete(...args: Parameters<MemoryStore["delete"]>): Promise<void> {
      this.#count();
      return await super.delete(...args);
    }

    #count(): void {
      this.left -= 1;
      if (this.left < 0) throw new Error("the process died");
    }
  }

  test("is proved before it replaces anything", async () => {
    class Forgetful extends MemoryStore {
      isForgetful = false;

      override async put(...[of, body, options]: Parameters<MemoryStore["put"]>): Promise<void> {
        await super.put(of, body, options);
        const stored = this.objects.get(of);
        if (this.isForgetful && stored && !of.endsWith(".json")) stored.bytes = stored.bytes.subarray(0, -1);
      }
    }
    const store = new Forgetful();
    const etcd = await etcdWith(3, "1");
    await backedUp(store, etcd, { hour: 1, ...once });
    const before = new Map(store.objects);
    store.isForgetful = true;
    const result = await attempt(store, etcd, { hour: 2, ...once });
    assert.ok(!result.ok && /stays as it was/.test(result.message), JSON.stringify(result));
    assert.deepEqual(store.objects, before);
  });

  test("is proved once more under the key that it replaces, and stays beside it where it is not whole there", async () => {
    class Forgetful extends MemoryStore {
      override async put(...[of, body, options]: Parameters<MemoryStore["put"]>): Promise<void> {
        await super.put(of, body, options);
        const stored = this.objects.get(of);
        if (of === path && stored) stored.bytes = stored.bytes.subarray(0, -1);
      }
    }
    const store = new Forgetful();
    store.objects.set(path, { bytes: Buffer.from("of etcd-operator 0.9"), modified: 0 });
    const result = await attempt(store, await etcdWith(3, "1"), { hour: 2, ...once });
    assert.ok(!result.ok && /could not take the place of/.test(result.message), JSON.stringify(result));
    assert.ok(store.objects.has(`${path}.next`) && !store.objects.has(`${path}.json`));
  });

  test("leaves one proved object under the key wherever the worker dies, and the next run ends it", async () => {
    for (let after = 0; after < 20; after += 1) {
      const store = new Dying();
      const etcd = await etcdWith(3, "1");
      const old = (await backedUp(store, etcd, { hour: 1, ...once })).backup;
      await etcd.at(url).put("more", "value");
      store.left = after;
      const result = await attempt(store, etcd, { hour: 2, ...once });
      const found = store.objects.get(path)?.bytes ?? Buffer.alloc(0);
      const isOld = found.length === old.bytes && Buffer.compare(found, store.objects.get(path)?.bytes ?? found) === 0;
      assert.ok(isOld || found.length > 0, `after ${after}`);
      const described = store.objects.get(`${path}.json`)?.bytes;
      if (described !== undefined) {
        const { createHash } = await import("node:crypto");
        const { sha256 } = JSON.parse(Buffer.from(described).toString()) as { sha256: string };
        assert.equal(createHash("sha256").update(found).digest("hex"), sha256, `after ${after}`);
      }
      store.left = Infinity;
      done(await attempt(store, etcd, { hour: 3, ...once }));
      assert.deepEqual([...store.objects.keys()].toSorted(), [path, `${path}.json`], `after ${after}`);
      if (result.ok) return;
    }
    assert.fail("it never came to an end");
  });

  test("is deleted with what a worker that died left of its successor", async () => {
    const store = new Dying();
    const etcd = await etcdWith(3, "1");
    await backedUp(store, etcd, { hour: 1, ...once });
    store.left = 2;
    await attempt(store, etcd, { hour: 2, ...once });
    assert.ok(store.objects.has(staged), [...store.objects.keys()].join());
    store.left = Infinity;
    await using worker = await testWorker(store);
    const target = { type: "PVC", folder: "/backups" } as const;
    await deleteOwned({ do: "delete", owner: mine, store: target, ...once }, store, worker);
    assert.deepEqual([...store.objects.keys()], []);
  });
});

describe("`before` a time", () => {
  test("is about the snapshot, not about the begin of the run", async () => {
    const store = new MemoryStore();
    const etcd = await etcdWith(3, "1");
    const early = await backedUp(store, etcd, { hour: 1 });
    // It waited for an hour and a half, for its node or for etcd.
    const late = await backedUp(store, etcd, { hour: 2, late: 5400_000 });
    assert.equal(await chosen(store, { before: "2026-11-17T03:00:00Z" }), early.backup.key);
    assert.equal(await chosen(store, { before: "2026-11-17T03:31:00Z" }), late.backup.key);
  });

  test("takes the later of two clocks", async () => {
    const store = new MemoryStore();
    const { backup } = await backedUp(store, await etcdWith(3, "1"), { hour: 2, late: -7200_000 });
    assert.match(await refusal(chosen(store, { before: "2026-11-17T01:30:00Z" })), /no backup/);
    assert.equal(await chosen(store, { before: "2026-11-17T02:00:01Z" }), backup.key);
  });

  test("takes an object without metadata only if the store had all of it by then", async () => {
    const store = new MemoryStore(() => day + 4 * 3600_000);
    const { backup } = await backedUp(store, await etcdWith(3, "1"), { hour: 2 });
    store.objects.delete(`${backup.key}.json`);
    assert.match(await refusal(chosen(store, { before: "2026-11-17T03:00:00Z" })), /no backup/);
    assert.equal(await chosen(store, { before: "2026-11-17T04:00:01Z" }), backup.key);
  });
});
