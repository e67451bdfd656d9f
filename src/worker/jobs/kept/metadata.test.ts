import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStore } from "../../../store/testing/memory-store.ts";
import { getMetadata } from "./metadata.ts";

test("whoever may write to the store gets nothing into a status that a terminal obeys", async () => {
  const numbers = { formatVersion: 1, bytes: 1, snapshotBytes: 1, revision: 1, members: 1 };
  const texts = { key: "a", sha256: "b", takenAt: "2026-01-01T00:00:00Z", clusterId: "c\u009B2J" };
  const store = new MemoryStore();
  const written = { ...numbers, ...texts, exactRevision: true, etcdVersion: "3.6.16\u001B[2J" };
  store.objects.set("a.json", { bytes: Buffer.from(JSON.stringify(written)), modified: 0 });
  const read = await getMetadata(store, "a", {});
  assert.deepEqual([read?.etcdVersion, read?.clusterId], ["3.6.16�[2J", "c�2J"]);
});
