import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { deleteOwned } from "../delete.ts";
import type { BackupJob, Retention } from "../../job.ts";
import { objectKey } from "./object-key.ts";
import { applyRetention, chooseDeletions, type Kept, newestFirst } from "./retention.ts";
import { MemoryStore } from "../../../store/testing/memory-store.ts";
import { storeBackup } from "../../testing/stored-backup.ts";
import { testWorker } from "../../testing/test-worker.ts";

const noon = Date.parse("2026-11-17T12:00:00Z");
const hour = 3600_000;
const kept = (key: string, takenAt: number, revision = 1): Kept => ({ key, takenAt, revision });
const limits = (limit: Partial<Retention>): Retention => ({ maxBackups: 0, maxAgeSeconds: 0, keep: [], ...limit });

describe("what retention deletes", () => {
  const four = [1, 2, 3, 4].map((age) => kept(`${age}h`, noon - age * hour));

  const cases: readonly (readonly [string, Partial<Retention>, readonly string[]])[] = [
    ["nothing without limits", {}, []],
    ["the oldest beyond a number", { maxBackups: 3 }, ["4h"]],
    ["all but the newest", { maxBackups: 1 }, ["2h", "3h", "4h"]],
    ["what is older than an age", { maxAgeSeconds: 2.5 * 3600 }, ["3h", "4h"]],
    ["by either limit", { maxBackups: 3, maxAgeSeconds: 2.5 * 3600 }, ["3h", "4h"]],
    ["never the newest, however old", { maxAgeSeconds: 60 }, ["2h", "3h", "4h"]],
    ["never what must stay", { maxBackups: 1, keep: ["3h"] }, ["2h", "4h"]],
  ];
  for (const [what, limit, deleted] of cases)
    test(what, () => assert.deepEqual(chooseDeletions(four, limits(limit), noon).sort(), deleted));

  test("revisions are numbers: 10 is newer than 9, and 100 than 99", () => {
    for (const [older, newer] of [
      [9, 10],
      [99, 100],
    ] as const) {
      const two = [kept("older", noon, older), kept("newer", noon, newer)];
      assert.deepEqual(chooseDeletions(two, limits({ maxBackups: 1 }), noon), ["older"]);
    }
  });

  test("what a person has released goes first, whatever its revision", () => {
    const two = [{ ...kept("before", noon - hour, 1000), released: true }, kept("after", noon, 7)];
    assert.deepEqual(chooseDeletions(two, limits({ maxBackups: 1 }), noon), ["before"]);
  });

  test("whatever the limits, something is left, and what is left is newer than what goes or must stay", () => {
    const object = fc.record({
      key: fc.uuid(),
      takenAt: fc.nat(1000),
      revision: fc.nat(1000),
      released: fc.boolean(),
    });
    const limit = fc.record({ maxBackups: fc.nat(5), maxAgeSeconds: fc.nat(3) });
    fc.assert(
      fc.property(fc.uniqueArray(object, { selector: ({ key }) => key, maxLength: 12 }), limit, (objects, limit) => {
        const deleted = new Set(chooseDeletions(objects, limits(limit), 5000));
        const stay = objects.filter(({ key }) => !deleted.has(key));
        assert.ok(objects.length === 0 || stay.length > 0);
        const [newest] = objects.toSorted(newestFirst);
        if (newest !== undefined) assert.ok(stay.includes(newest));
        for (const one of objects)
          if (deleted.has(one.key) && limit.maxAgeSeconds === 0)
            for (const other of stay) assert.ok(newestFirst(other, one) <= 0);
      }),
    );
  });
});

describe("the store after retention", () => {
  const path = "a/b";
  const at = (revision: number, age: number): { key: string; takenAt: string; revision: number } => {
    const takenAt = new Date(noon - age * hour).toISOString();
    return { key: objectKey({ t: "series", path }, revision, takenAt), takenAt, revision };
  };
  const job = (limit: Partial<Retention>): BackupJob => ({
    do: "backup",
    owner: { namespace: "ns", name: "mine" },
    run: "1",
    source: { endpoints: [] },
    store: { type: "PVC", folder: "/" },
    key: { t: "series", path },
    startedAt: new Date(noon).toISOString(),
    retention: limits(limit),
    stalledAfterSeconds: 10,
  });
  const [newest, middle, oldest] = [at(100, 0), at(99, 1), at(9, 2)];
  const made = { ...newest, clusterId: "c" };
  const series = (): MemoryStore => {
    const store = new MemoryStore();
    for (const { key, ...facts } of [oldest, newest, middle]) storeBackup(store, key, facts);
    return store;
  };

  test("has neither the old objects nor their metadata", async () => {
    const store = series();
    await using worker = await testWorker(store);
    const retained = await applyRetention(job({ maxBackups: 2 }), made, store, worker);
    assert.deepEqual(retained, { deleted: 1, count: 2 });
    assert.deepEqual(
      [...store.objects.keys()].sort(),
      [middle, newest].flatMap(({ key }) => [key, `${key}.json`]).sort(),
    );
  });

  test("has everything that is not provably of this EtcdBackup", async () => {
    const store = series();
    const others = [
      `${path}_v1_2020-01-01-00:00:00`, // of etcd-operator 0.9
      `${path}_v1_2020-01-01-00:00:00.old`,
      `${path}_verbose`,
      `${path}-other_v1_2020-01-01-00:00:00`,
      `${path}_vx_2020-01-01-00:00:00`,
      `${path}_v1_2020-13-01-00:00:00`,
    ];
    for (const key of others) storeBackup(store, key, "none");
    const theirs = at(3, 5);
    storeBackup(store, theirs.key, { ...theirs, owner: { namespace: "other", name: "mine" } });
    const unread = at(2, 6);
    storeBackup(store, unread.key, "none");
    store.objects.set(`${unread.key}.json`, { bytes: Buffer.from('{"owner":'), modified: 0 });
    await using worker = await testWorker(store);
    const { deleted, count } = await applyRetention(job({ maxBackups: 1 }), made, store, worker);
    assert.deepEqual({ deleted, count }, { deleted: 2, count: 1 });
    for (const key of [...others, theirs.key, `${theirs.key}.json`, unread.key, `${unread.key}.json`, newest.key])
      assert.ok(store.objects.has(key), key);
  });

  test("has no metadata of objects that are gone", async () => {
    const store = series();
    store.objects.delete(oldest.key);
    await using worker = await testWorker(store);
    await applyRetention(job({ maxBackups: 5 }), made, store, worker);
    assert.ok(!store.objects.has(`${oldest.key}.json`));
  });

  test("has what the store keeps by its policy, and the result says so", async () => {
    const store = series();
    store.locked.add(oldest.key);
    await using worker = await testWorker(store);
    const { deleted, count, kept } = await applyRetention(job({ maxBackups: 1 }), made, store, worker);
    assert.deepEqual({ deleted, count }, { deleted: 1, count: 2 });
    assert.match(kept ?? "", /keeps 1 that should go/);
    assert.ok(store.objects.has(`${oldest.key}.json`));
  });

  test("a store that cannot be listed does not make a good backup a failure", async () => {
    const store = series();
    store.fail("unavailable", { to: "list" });
    await using worker = await testWorker(store);
    assert.match((await applyRetention(job({ maxBackups: 1 }), made, store, worker)).kept ?? "", /could not be/);
  });

  test("is empty of an EtcdBackup that is deleted, and of nothing else", async () => {
    const store = series();
    storeBackup(store, path);
    const theirs = at(3, 5);
    storeBackup(store, theirs.key, { owner: { namespace: "ns", name: "theirs" } });
    await using worker = await testWorker(store);
    const { owner, store: target, key } = job({});
    assert.deepEqual(await deleteOwned({ do: "delete", owner, store: target, key }, store, worker), {
      do: "delete",
      deleted: 3,
      locked: 0,
    });
    assert.deepEqual([...store.objects.keys()].sort(), [path, theirs.key].flatMap((of) => [of, `${of}.json`]).sort());
    await deleteOwned({ do: "delete", owner, store: target, key: { t: "once", path } }, store, worker);
    assert.deepEqual([...store.objects.keys()].sort(), [theirs.key, `${theirs.key}.json`]);
  });
});
