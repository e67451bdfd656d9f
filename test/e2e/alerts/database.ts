// A database that fills up, is full, is mostly free space, and has room again; and the alarm about data that differs.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { EtcdError } from "../../../src/etcd/errors.ts";
import type { EtcdMember } from "../../../src/etcd/member.ts";
import type { TestCluster } from "../support/cluster.ts";
import { kube, patiently } from "../support/environment.ts";
import { raiseCorrupt } from "../support/disruptions.ts";
import type { HealthyMember } from "../support/healthy.ts";
import { about, memberOf, type Stage } from "./stage.ts";

const megabyte = 1 << 20;
/** A database above 100 MiB can be called fragmented. */
const quota = 128 * megabyte;
/** Each version of it takes room until the history is compacted. */
const key = "/filling";

export function databaseFaults(the: () => Stage): void {
  describe("a database", { concurrency: 1 }, () => {
    let cluster: TestCluster | undefined;
    const only = async (): Promise<HealthyMember> => {
      const { members } = (await cluster?.untilMembersHealthy()) ?? assert.fail("no cluster");
      return members[0] ?? assert.fail("no member");
    };
    before(async () => {
      cluster = await memberOf(the(), "filling", { etcd: { quotaBackendBytes: quota } });
      await cluster.untilHealthy();
    });
    after(() => cluster && kube.delete(EtcdCluster, cluster.key));

    test("fills up, is full, is mostly free space, and has room again", async () => {
      const { proof } = the();
      assert.ok(cluster);
      const where = about(cluster);
      const { etcd } = await only();
      await proof.silent(where, "EtcdDatabaseNearQuota", "EtcdDatabaseAlmostFull", "EtcdDatabaseFull");
      await fill(etcd, 0.85);
      await proof.fires(where, "EtcdDatabaseNearQuota");
      await proof.silent(where, "EtcdDatabaseAlmostFull");
      await fill(etcd, 0.97);
      await proof.fires(where, "EtcdDatabaseAlmostFull");
      await proof.silent(where, "EtcdDatabaseFull", "EtcdDatabaseFragmented");
      await fill(etcd, 2);
      await proof.fires(where, "EtcdDatabaseFull");
      // What the runbooks say to do.
      await etcd.compact((await etcd.status(patiently)).revision, patiently);
      await proof.fires(where, "EtcdDatabaseFragmented");
      await etcd.defragment(patiently);
      await proof.silent(where, "EtcdDatabaseFragmented", "EtcdDatabaseNearQuota", "EtcdDatabaseAlmostFull");
      await proof.fires(where, "EtcdDatabaseFull");
      for (const alarm of await etcd.alarms(patiently)) await etcd.disarm(alarm, patiently);
      await proof.silent(where, "EtcdDatabaseFull");
    });

    test("is reported when members hold different data", async () => {
      const { proof } = the();
      assert.ok(cluster);
      const where = about(cluster);
      const { etcd, address } = await only();
      const { memberId: member } = await etcd.status(patiently);
      await proof.silent(where, "EtcdDatabaseCorrupt");
      await raiseCorrupt(address, member);
      await proof.fires(where, "EtcdDatabaseCorrupt");
      await etcd.disarm({ member, type: "corrupt" }, patiently);
      await proof.silent(where, "EtcdDatabaseCorrupt");
    });
  });
}

/** Until so much of the quota is filled, or etcd takes no more. */
async function fill(etcd: EtcdMember, share: number): Promise<void> {
  for (let at = 0; (await etcd.status(patiently)).dbSize < share * quota; at += 1) {
    assert.ok(at < 256, "256 MB fit in: the quota is not in force");
    try {
      await etcd.put(key, Buffer.alloc(megabyte, "x"), patiently);
    } catch (error) {
      if (error instanceof EtcdError && error.reason === "noSpace") return;
      throw error;
    }
  }
}
