// A database that has reached its quota, on real servers: what the operator does to give it a larger one. Members are
// restarted with a larger quota on their volumes, or new ones join in their place, while etcd takes no writes; then the
// alarm is disarmed, and it takes them again.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { grow, isRefusal, removed, succeedsInTime } from "../../src/etcd/testing/world.ts";
import { triedVersions } from "../support/matrix.ts";
import { RealEtcd } from "./real-etcd.ts";

const MiB = 2 ** 20;
const small = { flags: [`--quota-backend-bytes=${4 * MiB}`] };
const larger = { "quota-backend-bytes": String(64 * MiB) };

describe("every version", { concurrency: 3 }, () => {
  for (const built of triedVersions)
    describe(`etcd ${built}`, { concurrency: 1 }, () => {
      test("members restart with a larger quota under NOSPACE, and take writes once it is disarmed", async () => {
        await using etcd = await RealEtcd.startCluster(built, 3, small);
        await etcd.fillUp();
        for (const name of ["m2", "m1", "m0"]) {
          etcd.setFlags(name, larger);
          await etcd.restart(name);
          await succeedsInTime(
            etcd,
            `${name} is back`,
            () => etcd.member(name).memberList({ linearizable: true }),
            () => true,
          );
        }
        await takesWritesAfterDisarming(etcd, "m0");
      });

      test("members join, get a vote and leave under NOSPACE, and take writes once it is disarmed", async () => {
        await using etcd = await RealEtcd.start(built, small);
        await etcd.fillUp();
        const m0 = etcd.member("m0");
        const { memberId } = await m0.status();
        for (const name of ["m1", "m2"]) {
          etcd.setFlags(name, larger);
          await grow(etcd, name);
        }
        const m1 = etcd.member("m1");
        await removed(etcd, m1, memberId);
        await takesWritesAfterDisarming(etcd, "m1");
      });
    });
});

/** Disarms it for each member that has raised it, also for one that is gone. */
async function takesWritesAfterDisarming(etcd: RealEtcd, name: string): Promise<void> {
  const member = etcd.member(name);
  const write = () => member.put("after", "1");
  await assert.rejects(
    succeedsInTime(etcd, "a write", write, isRefusal("timeout", "noLeader", "leaderChanged")),
    isRefusal("noSpace"),
  );
  const raised = await succeedsInTime(
    etcd,
    "the alarms",
    () => member.alarms(),
    () => true,
  );
  assert.deepEqual([...new Set(raised.map(({ type }) => type))], ["noSpace"]);
  for (const alarm of raised) await member.disarm(alarm);
  await member.put("after", "2");
  assert.deepEqual(await member.alarms(), []);
}
