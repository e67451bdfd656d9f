// Asks every member for etcd's own hash of keys and history, and compares.
import assert from "node:assert/strict";
import type { HealthyCluster } from "../support/healthy.ts";
import { patiently } from "../support/environment.ts";

/** Not for etcd before 3.3, which has no such hash. */
export async function holdSameData({ leader, members }: HealthyCluster): Promise<void> {
  const { revision } = await leader.etcd.status(patiently);
  const hashes = await Promise.all(
    members.map(async ({ etcd, name }) => {
      // A linearizable read: from then on the member has everything up to that revision.
      await etcd.get("/", {}, patiently);
      const { hash, compactRevision } = await etcd.hashKv(revision, patiently);
      return { name, hash, compactRevision };
    }),
  );
  const [first] = hashes;
  assert.deepEqual(
    hashes,
    hashes.map(({ name }) => ({ ...first, name })),
    `hashes at revision ${revision}`,
  );
}
