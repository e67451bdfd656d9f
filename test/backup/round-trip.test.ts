// What a backup is worth: an etcd of each version, restored from it, has every key, lease and revision.
import assert from "node:assert/strict";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { describe, test } from "node:test";
import type { EtcdVersion as Built } from "../../lab/build/etcd.ts";
import type { EtcdMember, KeyRange } from "../../src/etcd/member.ts";
import { refuses } from "../../src/etcd/testing/world.ts";
import { has } from "../../src/etcd/versions/features.ts";
import { version } from "../../src/etcd/versions/version.ts";
import type { BackupFacts, RestoreJob } from "../../src/worker/job.ts";
import { RealEtcd } from "../etcd/real-etcd.ts";
import { rowsOf } from "../support/matrix.ts";
import { etcdctl, leaseOf, putWithLease } from "./etcdctl.ts";
import { Jobs, target } from "./jobs.ts";

/** Writes, overwrites, deletes, a compaction, and a delete as the last thing before it. Gives back the id of a lease. */
async function fill(etcd: RealEtcd): Promise<string> {
  const m0 = etcd.member("m0");
  for (let n = 0; n < 40; n += 1) await m0.put(`key/${n % 20}`, `value ${n}`);
  await m0.put("binary", Buffer.from([0, 255, 1, 254]));
  const lease = await putWithLease(etcd.clientUrl("m0"), "leased", 3600);
  for (const n of [3, 5]) await m0.delete(`key/${n}`);
  const { revision } = await m0.status();
  await m0.compact(revision);
  for (let n = 0; n < 10; n += 1) await m0.put(`late/${n}`, "x".repeat(1000 * n));
  await m0.delete("late/9");
  return lease;
}

const everything = (member: EtcdMember): Promise<KeyRange> => member.list("");

function restored(jobs: Jobs, built: Built, facts: BackupFacts, changes: Partial<RestoreJob> = {}): Promise<RealEtcd> {
  return RealEtcd.startOn(built, async (member) => {
    const did = await jobs.does(jobs.restoreJob(facts, built, member, changes));
    assert.ok(did.do === "restore" && did.restored);
  });
}

const hashOf = async (member: EtcdMember, built: Built, revision: number): Promise<number | undefined> =>
  has(version(built), "hashKv") ? (await member.hashKv(revision)).hash : undefined;

const rows = rowsOf<{ from: Built; to: Built; onlyInMatrix?: boolean }>([
  { from: "3.2.13", to: "3.2.13" },
  { from: "3.4.23", to: "3.4.23", onlyInMatrix: true },
  { from: "3.5.35", to: "3.5.35" },
  { from: "3.6.16", to: "3.6.16", onlyInMatrix: true },
  { from: "3.7.3", to: "3.7.3" },
  { from: "3.2.13", to: "3.7.3" },
  { from: "3.3.27", to: "3.4.23", onlyInMatrix: true },
  { from: "3.4.23", to: "3.6.16", onlyInMatrix: true },
  { from: "3.5.35", to: "3.7.3", onlyInMatrix: true },
]);

describe("from a backup to an etcd that serves it", { concurrency: 2 }, () => {
  for (const { from, to } of rows)
    test(`${from} → ${to}: every key, lease and revision`, async () => {
      const jobs = new Jobs();
      await using etcd = await RealEtcd.start(from);
      const lease = await fill(etcd);
      const m0 = etcd.member("m0");
      const before = await everything(m0);
      const { backup } = await jobs.backup([etcd.clientUrl("m0")]);
      assert.equal(backup.revision, before.revision);
      assert.equal(backup.exactRevision, true);
      assert.equal(backup.etcdVersion, from);
      assert.equal(backup.hash !== undefined, has(version(from), "hashKv"));

      const checked = await jobs.check(to, backup.key);
      assert.deepEqual(checked, {
        ...backup,
        keys: before.keys.length,
        ...(checked.storageVersion !== undefined && { storageVersion: checked.storageVersion }),
      });

      await using same = await restored(jobs, to, checked);
      const served = same.member("m0");
      assert.deepEqual(await everything(served), before);
      assert.notEqual((await served.status()).clusterId, backup.clusterId);
      if (from === to) assert.equal(await hashOf(served, to, before.revision), await hashOf(m0, from, before.revision));
      assert.match(
        await leaseOf(same.clientUrl("m0"), lease),
        /granted with TTL\(3600s\).*attached keys\(\[leased\]\)/,
      );
      const verified = await jobs.does({
        do: "verify",
        endpoint: same.clientUrl("m0"),
        store: target,
        key: backup.key,
        stalledAfterSeconds: 10,
      });
      assert.ok(verified.do === "verify");
      assert.deepEqual([verified.revision, verified.comparedHash], [before.revision, has(version(from), "hashKv")]);

      const { revision, keys, storageVersion } = checked;
      const proved = { revision, keys, ...(storageVersion !== undefined && { storageVersion }) };
      await using bumped = await restored(jobs, to, checked, { bumpRevision: 1_000_000, proved });
      const later = bumped.member("m0");
      const after = await everything(later);
      assert.ok(after.revision >= before.revision + 1_000_000);
      assert.deepEqual(after.keys, before.keys);
      await refuses(later.get("key/1", { revision: before.revision }), "compacted");
      const watch = await etcdctl(bumped.clientUrl("m0"), "watch", "key/1", `--rev=${before.revision}`);
      assert.match(watch.text, /compacted|watch is canceled by the server/); // 3.2 does not say why
      await later.put("new", "value");
    });

  test("a member with data is not restored again, with or without the store", async () => {
    const jobs = new Jobs();
    await using etcd = await RealEtcd.start("3.6.16");
    await fill(etcd);
    const { backup } = await jobs.backup([etcd.clientUrl("m0")]);
    let again: RestoreJob | undefined;
    await using served = await RealEtcd.startOn("3.6.16", async (member) => {
      again = jobs.restoreJob(backup, "3.6.16", member);
      await jobs.does(again);
    });
    await served.member("m0").put("since", "value");
    await served.stop("m0");
    const unavailable = { openStore: () => Promise.reject(new Error("the store is away")) };
    for (const restoring of ["allowed", "refused"] as const)
      assert.deepEqual(await jobs.does(again!, { ...unavailable, restoring }), { do: "restore", restored: false });
    await served.revive("m0");
    assert.ok(await served.member("m0").get("since"));
  });

  test("what a restore leaves: data in one step, for its user alone, and nothing beside it", async () => {
    const jobs = new Jobs();
    await using etcd = await RealEtcd.start("3.6.16");
    await fill(etcd);
    const { backup } = await jobs.backup([etcd.clientUrl("m0")]);
    await using served = await RealEtcd.startOn("3.6.16", async (member) => {
      const job = jobs.restoreJob(backup, "3.6.16", member);
      const parent = path.dirname(member.dataDir);
      const refused = await jobs.fails("failed", job, { restoring: "refused" });
      assert.match(refused, /must not be restored again/);
      const other = await jobs.fails("damaged", { ...job, sha256: "0".repeat(64) });
      assert.match(other, /another object than the one that was checked/);
      assert.deepEqual(await readdir(parent), []);
      // As one that was interrupted leaves it.
      await mkdir(`${member.dataDir}.restoring/member`, { recursive: true });
      await writeFile(`${member.dataDir}.restoring/member/half`, "");
      await mkdir(member.dataDir);
      await jobs.does(job);
      assert.deepEqual(await readdir(parent), [path.basename(member.dataDir)]);
      assert.deepEqual(await readdir(member.dataDir), ["member"]);
      assert.equal((await stat(member.dataDir)).mode & 0o777, 0o700);
    });
    assert.ok(await served.member("m0").get("key/1"));
  });
});
