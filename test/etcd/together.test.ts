// Members that start at the same time, listed under an address that nobody can dial. Tests what the operator assumes
// about etcd there, on versions for which it does so.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { EtcdVersion as Built } from "../../lab/build/etcd.ts";
import type { Member } from "../../src/etcd/member.ts";
import { comesTrue, isRefusal, succeedsInTime } from "../../src/etcd/testing/world.ts";
import { has } from "../../src/etcd/versions/features.ts";
import { version } from "../../src/etcd/versions/version.ts";
import { triedVersions } from "../support/matrix.ts";
import { RealEtcd } from "./real-etcd.ts";

const all = ["m0", "m1", "m2"];
/** A member that can win an election wins it within twice the election timeout. */
const electionMs = 2000;

describe("every version", { concurrency: 3 }, () => {
  for (const built of triedVersions.filter((one) => has(version(one), "maxLearners")))
    describe(`etcd ${built}`, { concurrency: 1 }, () => {
      test("two learners that nobody can dial start together, get all data, and vote after promotion", async () => {
        await using etcd = await startedTogether(built);
        await etcd.kill("m0");
        await hasQuorum(etcd, "m1");
        assert.deepEqual(await keysOf(etcd, "m1"), ["before", "placeholder", "voting"]);
        const { members } = await etcd.member("m2").memberList({ linearizable: true });
        assert.deepEqual(
          members.map(({ learner }) => learner),
          [false, false, false],
        );
      });

      // After a restart etcd reads the voters from the log. If it misread them, one member could have quorum alone, or two none.
      for (const [alone, other] of [
        ["m0", "m1"],
        ["m1", "m2"],
        ["m2", "m0"],
      ] as const)
        test(`after a restart of all, ${alone} has no quorum alone and has quorum with ${other}`, async () => {
          await using etcd = await startedTogether(built);
          // The database is written every 0.1 s. A restart with the voters in it takes another path than one without.
          await delay(500);
          for (const name of all) await etcd.kill(name);
          const led = etcd.elections(alone);
          // It serves no client before it knows a leader.
          const first = etcd.revive(alone);
          await delay(2 * electionMs);
          assert.equal(etcd.elections(alone), led, "it leads by its own vote");
          await Promise.all([first, etcd.revive(other)]);
          await hasQuorum(etcd, alone);
          assert.deepEqual(await keysOf(etcd, other), ["before", "placeholder", "voting"]);
        });

      test("a learner that needs a snapshot and cannot be dialled never gets it", async () => {
        await using etcd = await RealEtcd.start(built, { flags: ["--max-learners=2"] });
        const m0 = etcd.member("m0");
        for (let n = 0; n < 150; n += 1) await m0.put(`key-${n}`, "1");
        const { member } = await addPlaceholder(etcd, "m1");
        await etcd.launch("m1");
        await comesTrue(
          etcd,
          "sending it fails",
          async () => etcd.log,
          (log) => /failed to send database snapshot/.test(log),
        );
        await assert.rejects(m0.memberPromote(member.id), isRefusal("learnerNotReady"));
      });
    });
});

/** Three voters with three keys, two of which joined together. */
async function startedTogether(built: Built): Promise<RealEtcd> {
  const etcd = await RealEtcd.start(built, { flags: ["--max-learners=2"] });
  const m0 = etcd.member("m0");
  await m0.put("before", "1");
  const added = [await addPlaceholder(etcd, "m1"), await addPlaceholder(etcd, "m2")];
  await Promise.all(added.map(({ name }) => etcd.join(name)));
  await m0.put("placeholder", "1");
  for (const { name, member } of added) {
    await succeedsInTime(etcd, "promotion", () => m0.memberPromote(member.id), isRefusal("learnerNotReady"));
    await m0.memberUpdate(member.id, [etcd.peerUrl(name)]);
  }
  await m0.put("voting", "1");
  return etcd;
}

async function addPlaceholder(etcd: RealEtcd, name: string): Promise<{ name: string; member: Member }> {
  const wanted = { as: "learner", peerUrls: [etcd.placeholderUrl(name)], oldestServer: etcd.version } as const;
  return { name, member: (await etcd.member("m0").memberAdd(wanted)).member };
}

async function hasQuorum(etcd: RealEtcd, name: string): Promise<void> {
  await comesTrue(
    etcd,
    `${name} has quorum`,
    () => etcd.member(name).health(),
    ({ t }) => t === "healthy",
  );
}

async function keysOf(etcd: RealEtcd, name: string): Promise<string[]> {
  const { keys } = await etcd.member(name).list("");
  return keys.map(({ key }) => key).sort();
}
