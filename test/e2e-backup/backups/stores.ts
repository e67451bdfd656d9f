// Stores besides S3, through the pods that work for an EtcdBackup and an EtcdRestore: each keeps a backup, and what it keeps
// can be restored.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TestCluster } from "../../e2e/support/cluster.ts";
import { patiently } from "../../e2e/support/environment.ts";
import { lane } from "../../e2e/support/lane.ts";
import { memberAt } from "../../e2e/support/healthy.ts";
import { isMatrix } from "../../support/matrix.ts";
import { backUp, restore, untilBackedUp, untilRestored } from "../support/objects.ts";
import { azure, google, type OtherStore, volume, type Where } from "../support/other-stores.ts";

const kinds = { volume, azure, google };
type Name = keyof typeof kinds;
const names: readonly Name[] = ["volume", "azure", "google"];
/** They take the same path through a restore. */
const restored: readonly Name[] = isMatrix ? names : ["volume"];

export function stores(): void {
  describe("a store besides S3", { concurrency: 1 }, () => {
    const opened = new Map<Name, OtherStore>();
    const on = lane("stores", { size: 1 }, async (namespace) => {
      for (const name of names) opened.set(name, await kinds[name](namespace));
    });
    const at = (name: Name): Where =>
      opened.get(name)?.("folder/etcd.backup") ?? assert.fail(`the store ${name} was not opened`);
    let written: ReadonlyMap<string, string> = new Map();

    test("keeps a backup that was read back", async () => {
      const { cluster, writer } = on();
      const { namespace } = cluster;
      await writer.progress(20);
      written = writer.soFar();
      for (const name of names) await backUp({ namespace, name }, { clusterRef: { name: cluster.name }, ...at(name) });
      for (const name of names) {
        const { status } = await untilBackedUp({ namespace, name });
        assert.ok((status?.lastBackup?.revision ?? 0) >= written.size, JSON.stringify(status));
        assert.match(status?.lastBackup?.sha256 ?? "", /^[0-9a-f]{64}$/);
      }
    });

    for (const name of restored)
      test(`gives it back to a new cluster: ${name}`, async () => {
        const { writer, cluster } = on();
        const { namespace } = cluster;
        const copy = new TestCluster({ namespace, name: `of-${name}` });
        const { storageType, ...where } = at(name);
        await restore(copy.key, {
          etcdCluster: { name: copy.name },
          backupStorageType: storageType,
          ...where,
          clusterSpec: { size: 1, version: "3.6.16" },
        });
        await untilRestored(copy.key);
        const { leader } = await copy.untilHealthy();
        const { keys } = await memberAt(leader.address).list(writer.prefix, {}, patiently);
        const there = new Map(keys.map(({ key, value }) => [key, Buffer.from(value).toString()]));
        for (const [key, value] of written) assert.equal(there.get(key), value, key);
      });
  });
}
