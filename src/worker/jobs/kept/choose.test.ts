import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseKey } from "./choose.ts";
import { WorkerFailure } from "../../program/failure.ts";
import { inSeries, objectKey } from "./object-key.ts";
import { MemoryStore } from "../../../store/testing/memory-store.ts";
import { storeBackup } from "../../testing/stored-backup.ts";
import { testWorker } from "../../testing/test-worker.ts";

const path = "team/etcd";
const seriesKey = (revision: number, time: string): string => objectKey({ t: "series", path }, revision, time);

async function chosen(store: MemoryStore, before?: string): Promise<string> {
  await using worker = await testWorker(store);
  return await chooseKey({ t: "newest", path, ...(before !== undefined && { before }) }, store, worker);
}

test("the key of a series says revision and time, and is read back", () => {
  const key = seriesKey(123, "2026-11-17T09:08:07.654Z");
  assert.equal(key, "team/etcd_v123_2026-11-17-09:08:07");
  assert.deepEqual(inSeries(path, key), { revision: 123, time: Date.parse("2026-11-17T09:08:07Z") });
  for (const other of [`${key}.json`, `x${key}`, "team/etcd_v_2026-11-17-09:08:07", "team/etcd_v1_2026-11-17"])
    assert.equal(inSeries(path, other), undefined);
  assert.equal(inSeries("team", key), undefined);
});

test("the newest is the one that began last, whatever its revision and its name", async () => {
  const store = new MemoryStore();
  for (const key of [
    seriesKey(100, "2026-11-17T09:00:00Z"),
    seriesKey(9, "2026-11-17T10:00:00Z"),
    seriesKey(99, "2026-11-16T23:00:00Z"),
  ])
    storeBackup(store, key, "none");
  storeBackup(store, `${path}_v1_2030-01-01-00:00:00.partial`, "none");
  storeBackup(store, `${path}2_v1_2030-01-01-00:00:00`, "none");
  assert.equal(await chosen(store), seriesKey(9, "2026-11-17T10:00:00Z"));
  // Without metadata it counts when the store had it.
  for (const [key, object] of store.objects) object.modified = (inSeries(path, key)?.time ?? 0) + 30_000;
  assert.equal(await chosen(store, "2026-11-17T10:00:00.000Z"), seriesKey(100, "2026-11-17T09:00:00Z"));
});

test("of the same second the higher revision is newer, as a number", async () => {
  const store = new MemoryStore();
  const time = "2026-11-17T10:00:00Z";
  for (const revision of [10, 9]) storeBackup(store, seriesKey(revision, time), "none");
  assert.equal(await chosen(store), seriesKey(10, time));
});

test("a moment within the second is told by the metadata", async () => {
  const store = new MemoryStore();
  const takenAt = "2026-11-17T10:00:00.700Z";
  storeBackup(store, seriesKey(1, takenAt), { takenAt, snapshotAt: takenAt });
  await assert.rejects(chosen(store, "2026-11-17T10:00:00.500Z"), isNotFound);
  assert.equal(await chosen(store, "2026-11-17T10:00:00.800Z"), seriesKey(1, takenAt));
});

test("a lone object counts by its metadata, and without by when the store got it", async () => {
  const store = new MemoryStore();
  const series = seriesKey(1, "2026-11-17T11:00:00Z");
  storeBackup(store, series, { takenAt: "2026-11-17T11:00:00Z" });
  storeBackup(store, path, { takenAt: "2026-11-17T10:59:00Z" });
  assert.equal(await chosen(store), series);
  storeBackup(store, path, { takenAt: "2026-11-17T11:01:00Z" });
  assert.equal(await chosen(store), path);
  for (const key of [path, series]) store.objects.delete(`${key}.json`); // it was stored at noon
  assert.equal(await chosen(store), path);
});

test("the newest without metadata, beside older ones with it, is of nobody knows which cluster", async () => {
  const store = new MemoryStore();
  const [older, newer] = [seriesKey(1, "2026-11-17T10:00:00Z"), seriesKey(2, "2026-11-17T11:00:00Z")];
  storeBackup(store, older, { takenAt: "2026-11-17T10:00:00Z" });
  storeBackup(store, newer, "none");
  const isRefused = (error: unknown): boolean =>
    error instanceof WorkerFailure && error.code === "misconfigured" && error.message.includes(newer);
  await assert.rejects(chosen(store), isRefused);
  // Those of etcd-operator 0.9 are older than all that have metadata, and contradict nothing.
  storeBackup(store, seriesKey(3, "2026-11-17T12:00:00Z"), { takenAt: "2026-11-17T12:00:00Z", revision: 3 });
  assert.equal(await chosen(store), seriesKey(3, "2026-11-17T12:00:00Z"));
});

test("what a worker began and never proved is not chosen", async () => {
  const store = new MemoryStore();
  const [whole, begun] = [seriesKey(1, "2026-11-17T10:00:00Z"), seriesKey(2, "2026-11-17T11:00:00Z")];
  storeBackup(store, whole);
  storeBackup(store, begun, "none");
  const claim = { formatVersion: 1, key: begun, unfinished: true, owner: { namespace: "ns", name: "mine" } };
  store.objects.set(`${begun}.json`, { bytes: Buffer.from(JSON.stringify(claim)), modified: 0 });
  assert.equal(await chosen(store), whole);
});

test("where there is none, the sentence says where it was looked for", async () => {
  await assert.rejects(
    chosen(new MemoryStore()),
    (error) => isNotFound(error) && /team\/etcd in memory/.test(String(error)),
  );
});

const isNotFound = (error: unknown): boolean => error instanceof WorkerFailure && error.code === "notFound";
