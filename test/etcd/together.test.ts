// Members that start at the same moment, as the operator lists them: where nobody can dial them until they have started.
// What is taken for granted of etcd there is tried here, on every version that it is done with.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type EtcdVersion as Built, etcdVersions } from "../../lab/build/etcd.ts";
import type { Member } from "../../src/etcd/member.ts";
import { comesTrue, isRefusal, succeedsInTime } from "../../src/etcd/testing/world.ts";
import { has } from "../../src/etcd/versions/features.ts";
import { version } from "../../src/etcd/versions/version.ts";
import { RealEtcd } from "./real-etcd.ts";

const all = ["m0", "m1", "m2"];
/** After which at the latest a member that can wins an election: twice the timeout of etcd. */
const electionMs = 2000;

describe("every version", { concurrency: 3 }, () => {
  for (const built of etcdVersions.filter((one) => has(version(one), "maxLearners")))
    describe(`etcd ${built}`, { concurrency: 1 }, () => {
      test("two that nobody can dial begin together, hold all data, and vote", async () => {
        await using etcd = await startedTogether(built);
        await etcd.kill("m0");
        await decide(etcd, "m1");
        assert.deepEqual(await keysOf(etcd, "m1"), ["before", "undialable", "voting"]);
        const { members } = await etcd.member("m2").memberList({ linearizable: true });
        assert.deepEqual(
          members.map(({ learner }) => learner),
          [false, false, false],
        );
      });

      // Who votes is read from the log again. Were it read differently, a lone member would decide by itself, or two could not.
      for (const [alone, other] of [
        ["m0", "m1"],
        ["m1", "m2"],
        ["m2", "m0"],
      ] as const)
        test(`after a restart of all ${alone} decides nothing alone, and everything with ${other}`, async () => {
          await using etcd = await startedTogether(built);
          // The database is written down every 0.1 s; what is in it is read from the log all the same, and differently.
          await delay(500);
          for (const name of all) await etcd.kill(name);
          const led = etcd.elections(alone);
          // It serves nobody before it knows a leader.
          const first = etcd.revive(alone);
          await delay(2 * electionMs);
          assert.equal(etcd.elections(alone), led, "it leads by its own vote");
          await Promise.all([first, etcd.revive(other)]);
          await decide(etcd, alone);
          assert.deepEqual(await keysOf(etcd, other), ["before", "undialable", "voting"]);
        });

      test("one that needs a snapshot never gets it", async () => {
        await using etcd = await RealEtcd.start(built, { flags: ["--max-learners=2"] });
        const m0 = etcd.member("m0");
        for (let n = 0; n < 150; n += 1) await m0.put(`key-${n}`, "1");
        const { member } = await addUndialable(etcd, "m1");
        await etcd.launch("m1");
        await comesTrue(
          etcd,
          "it is sent in vain",
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
  const added = [await addUndialable(etcd, "m1"), await addUndialable(etcd, "m2")];
  await Promise.all(added.map(({ name }) => etcd.join(name)));
  await m0.put("undialable", "1");
  for (const { name, member } of added) {
    await succeedsInTime(etcd, "promotion", () => m0.memberPromote(member.id), isRefusal("learnerNotReady"));
    await m0.memberUpdate(member.id, [etcd.peerUrl(name)]);
  }
  await m0.put("voting", "1");
  return etcd;
}

async function addUndialable(etcd: RealEtcd, name: string): Promise<{ name: string; member: Member }> {
  const wanted = { as: "learner", peerUrls: [etcd.undialableUrl(name)], oldestServer: etcd.version } as const;
  return { name, member: (await etcd.member("m0").memberAdd(wanted)).member };
}

async function decide(etcd: RealEtcd, name: string): Promise<void> {
  await comesTrue(
    etcd,
    `${name} decides with others`,
    () => etcd.member(name).health(),
    ({ t }) => t === "healthy",
  );
}

async function keysOf(etcd: RealEtcd, name: string): Promise<string[]> {
  const { keys } = await etcd.member(name).list("");
  return keys.map(({ key }) => key).sort();
}
