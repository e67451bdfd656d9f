// Backups that must not be restored, and stores that cannot be used: each says so, and the cluster that runs is untouched.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { copyFile, open, readFile, truncate, writeFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { EtcdRestoreSpec } from "../../../src/api/etcd-restore/etcd-restore.ts";
import { EtcdRestore } from "../../../src/api/etcd-restore/etcd-restore.ts";
import { Secret } from "../../../src/kube/objects/kinds.ts";
import { kube } from "../../e2e/support/environment.ts";
import { IdentityWatch } from "../../e2e/proofs/identity-watch.ts";
import { lane } from "../../e2e/support/lane.ts";
import { onlyReplaced } from "../../e2e/proofs/replaced.ts";
import { isMatrix } from "../../support/matrix.ts";
import type { Bucket } from "../support/bucket.ts";
import { backUp, restore, untilBackedUp, untilBackup, untilRefused } from "../support/objects.ts";

export function refusals(bucket: () => Bucket): void {
  describe("a restore that cannot be trusted", { concurrency: 1 }, () => {
    const on = lane("refused", { size: 3, version: "3.5.35" }, async (namespace) => {
      await bucket().open(namespace);
      const keys = { good: randomBytes(32).toString("base64") };
      await kube.create(Secret, { metadata: { namespace, name: "keys" }, stringData: keys });
      const others = { good: randomBytes(32).toString("base64") };
      await kube.create(Secret, { metadata: { namespace, name: "other-keys" }, stringData: others });
    });
    const at = (name: string): string => `${on().cluster.namespace}/${name}`;
    const file = (name: string): string => bucket().file(at(name));

    /** What is wrong with the object, and what is said about it. */
    const cases: readonly [
      name: string,
      spoil: (bad: string) => Promise<unknown>,
      says: RegExp,
      more?: Partial<EtcdRestoreSpec>,
    ][] = [
      ["truncated", (bad) => truncate(bad, 4096 * 3), /truncated|incomplete|damaged|bytes/i],
      ["flipped", (bad) => flip(bad, 9000), /damaged|checksum|SHA-256/i],
      ["hashless", async (bad) => truncate(bad, (await readFile(bad)).length - 32), /checksum|hash|SHA-256/i],
      ["empty", (bad) => truncate(bad, 0), /empty|incomplete|damaged|bytes/i],
      ["something-else", (bad) => writeFile(bad, "a letter, not a snapshot"), /damaged|snapshot|bytes/i],
    ];

    test("a backup is there, in the clear and encrypted", async () => {
      const { cluster, writer } = on();
      await writer.progress(20);
      const common = { clusterRef: { name: cluster.name }, storageType: "S3" } as const;
      for (const name of ["good", "sealed"])
        await backUp(
          { namespace: cluster.namespace, name },
          { ...common, s3: bucket().at(at(name)), ...(name === "sealed" && { encryption: { secret: "keys" } }) },
        );
      for (const name of ["good", "sealed"]) await untilBackedUp({ namespace: cluster.namespace, name });
    });

    const refused = async (name: string, spec: Partial<EtcdRestoreSpec>, says: RegExp): Promise<void> => {
      const { cluster } = on();
      const own = { backupStorageType: "S3", s3: bucket().at(at(name)) } as const;
      await restore(cluster.key, { etcdCluster: { name: cluster.name }, ...own, ...spec });
      const reason = await untilRefused(cluster.key);
      await kube.delete(EtcdRestore, cluster.key);
      assert.match(reason, says);
      assert.match(reason, /Nothing was touched/);
    };

    // test/backup tries all of them with the worker alone.
    for (const [name, spoil, says] of isMatrix ? cases : cases.slice(0, 2))
      test(`is refused: ${name}`, async () => {
        await copyFile(file("good"), file(name));
        await spoil(file(name));
        await refused(name, {}, says);
      });

    test("is refused: tampered with, with the wrong key, and without a key", async () => {
      await copyFile(file("sealed"), file("tampered"));
      await flip(file("tampered"), 5000);
      await refused("tampered", { encryption: { secret: "keys" } }, /was changed after it was written/);
      await refused("sealed", { encryption: { secret: "other-keys" } }, /key/i);
      await refused("sealed", {}, /encrypted/i);
    });

    test("is refused: replaced by one that is not encrypted, or for another one that is", async () => {
      const keys = { encryption: { secret: "keys" } };
      await refused("good", keys, /is not encrypted.*spec\.encryption\.allowUnencrypted/);
      await copyFile(file("sealed"), file("replaced"));
      await refused("replaced", keys, /was encrypted under the key .*sealed.*spec\.encryption\.originalKey/);
    });

    test("is refused: not there, or into a cluster that has the name", async () => {
      await refused("not-there", {}, /There is no .*not-there/);
      const { cluster } = on();
      const mine = { namespace: cluster.namespace, name: "another" };
      const own = { backupStorageType: "S3", s3: bucket().at(at("good")) } as const;
      await restore(mine, { etcdCluster: { name: cluster.name }, ...own });
      assert.match(await untilRefused(mine), /must have its name/);
    });

    test("has touched nothing: the cluster is the one that it was, and all that was written is there", async () => {
      const { cluster, writer, first } = on();
      await using identity = new IdentityWatch(cluster, first.clusterId);
      onlyReplaced(first, await cluster.untilHealthy());
      await writer.nothingIsLost();
      await identity.neverViolated();
    });

    test("a store that cannot be used is a sentence in the status of the EtcdBackup, and the next edit mends it", async () => {
      const { cluster } = on();
      const key = { namespace: cluster.namespace, name: "misplaced" };
      const common = { clusterRef: { name: cluster.name }, storageType: "S3" } as const;
      const s3 = { ...bucket().at(at("misplaced")), path: "no-such-bucket/x" };
      await backUp(key, { ...common, s3 });
      const { status } = await untilBackup(key, "to say why", (seen) => /no-such-bucket/.test(said(seen)));
      assert.match(said({ status }), /bucket/i);
    });
  });
}

const said = ({ status }: { status?: { Reason?: string; message?: string } | undefined }): string =>
  `${status?.Reason ?? ""} ${status?.message ?? ""}`;

async function flip(file: string, at: number): Promise<void> {
  await using opened = await open(file, "r+");
  const byte = Buffer.alloc(1);
  await opened.read(byte, 0, 1, at);
  byte[0] = (byte[0] ?? 0) ^ 0xff;
  await opened.write(byte, 0, 1, at);
}
