// Members that are made from one backup apart from each other, as the init containers of a restored cluster make them: in real
// etcd they are one cluster, with the same data, and nobody is sent a snapshot.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EtcdVersion as Built } from "../../lab/build/etcd.ts";
import { refuses } from "../../src/etcd/testing/world.ts";
import { has } from "../../src/etcd/versions/features.ts";
import { version } from "../../src/etcd/versions/version.ts";
import type { BackupFacts } from "../../src/worker/job.ts";
import { RealEtcd } from "../etcd/real-etcd.ts";
import { rowsOf } from "../support/matrix.ts";
import { Jobs } from "./jobs.ts";

const bumpRevision = 1_000_000;

/** With a compaction behind it, and a delete as the last thing before the backup. */
async function backedUp(jobs: Jobs, built: Built): Promise<BackupFacts> {
  await using etcd = await RealEtcd.start(built);
  const m0 = etcd.member("m0");
  for (let n = 0; n < 40; n += 1) await m0.put(`key/${n % 20}`, `value ${n}`);
  await m0.compact((await m0.status()).revision);
  for (let n = 0; n < 10; n += 1) await m0.put(`late/${n}`, "x".repeat(1000 * n));
  await m0.delete("late/9");
  const { backup } = await jobs.backup([etcd.clientUrl("m0")]);
  return await jobs.check(built, backup.key);
}

/** Each has a job of its own, with the same list and token. */
function restored(jobs: Jobs, built: Built, facts: BackupFacts, size: number, token = "restored"): Promise<RealEtcd> {
  return RealEtcd.startTogetherOn(built, size, async (members) => {
    const initialCluster = members.map(({ name, peerUrl }) => ({ name, peerUrl }));
    for (const member of members) {
      const job = jobs.restoreJob(facts, built, member, { bumpRevision, initialCluster, token });
      const did = await jobs.does(job);
      assert.ok(did.do === "restore" && did.restored);
    }
  });
}

const rows = rowsOf<{ built: Built; onlyInMatrix?: boolean }>([
  { built: "3.2.13", onlyInMatrix: true },
  { built: "3.3.27", onlyInMatrix: true },
  { built: "3.4.23", onlyInMatrix: true },
  { built: "3.5.35" },
  { built: "3.6.16", onlyInMatrix: true },
  { built: "3.7.3" },
]);

describe("three members that are restored apart from each other", { concurrency: 1 }, () => {
  for (const { built } of rows)
    test(`${built}: are one cluster of equal members`, async () => {
      const jobs = new Jobs();
      const facts = await backedUp(jobs, built);
      await using etcd = await restored(jobs, built, facts, 3);
      const names = ["m0", "m1", "m2"];
      const members = names.map((name) => etcd.member(name));
      const statuses = await Promise.all(members.map((member) => member.status()));
      assert.equal(new Set(statuses.map(({ clusterId }) => clusterId)).size, 1);
      assert.notEqual(statuses[0]?.clusterId, facts.clusterId);
      assert.equal(new Set(statuses.map(({ memberId }) => memberId)).size, 3);
      const { members: listed } = await members[0]!.memberList({ linearizable: true });
      assert.deepEqual(
        listed.map(({ name, learner }) => `${name} ${learner}`).toSorted(),
        names.map((name) => `${name} false`),
      );

      const everything = await Promise.all(members.map((member) => member.list("")));
      const [first] = everything;
      assert.ok(first !== undefined && first.keys.length === facts.keys);
      for (const one of everything) assert.deepEqual(one.keys, first.keys);
      const revision = facts.revision + bumpRevision;
      for (const status of statuses) assert.equal(status.revision, revision, "the revision is raised alike");
      for (const member of members) await refuses(member.get("key/1", { revision: facts.revision }), "compacted");

      // Any two of them are a majority, and the third catches up from their log.
      await etcd.stop("m2");
      await members[0]!.put("new", "value");
      await etcd.revive("m2");
      assert.ok(await members[2]!.get("new"));
      if (!has(version(built), "hashKv")) return;
      const after = await Promise.all(members.map((member) => member.hashKv(revision + 1)));
      assert.equal(new Set(after.map(({ hash }) => hash)).size, 1);
      assert.equal(new Set(after.map(({ compactRevision }) => compactRevision)).size, 1);
    });

  test("with another token they are members of another cluster", async () => {
    const jobs = new Jobs();
    const facts = await backedUp(jobs, "3.6.16");
    const idWith = async (token: string): Promise<string> => {
      await using etcd = await restored(jobs, "3.6.16", facts, 1, token);
      return (await etcd.member("m0").status()).clusterId;
    };
    assert.notEqual(await idWith("restored"), await idWith("restored/1"));
  });
});
