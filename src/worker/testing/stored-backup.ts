// Objects as a worker leaves them, for tests that need no etcd.
import type { BackupFacts } from "../job.ts";
import type { Metadata } from "../jobs/kept/metadata.ts";
import { metadataKey } from "../jobs/kept/object-key.ts";
import type { MemoryStore } from "../../store/testing/memory-store.ts";

const facts: Omit<BackupFacts, "key"> = {
  bytes: 4,
  sha256: "00",
  snapshotBytes: 4,
  takenAt: "2026-11-17T10:00:00.000Z",
  revision: 1,
  exactRevision: true,
  etcdVersion: "3.6.16",
  clusterId: "c",
  members: 3,
  owner: { namespace: "ns", name: "mine" },
};

export function storeBackup(store: MemoryStore, key: string, metadata: Partial<Metadata> | "none" = {}): void {
  store.objects.set(key, { bytes: Buffer.from("data"), modified: Date.parse("2026-11-17T12:00:00Z") });
  if (metadata === "none") return;
  const text = JSON.stringify({ formatVersion: 1, ...facts, key, ...metadata });
  store.objects.set(metadataKey(key), { bytes: Buffer.from(text), modified: 0 });
}
