// A member whose disk is slow: the raft log and the database wait for it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { slowDisk } from "../../../lab/faults/throttle.ts";
import { fastDisk } from "../../../lab/faults/undo.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { Writer } from "../proofs/writer.ts";
import type { TestCluster } from "../support/cluster.ts";
import { kube, lab } from "../support/environment.ts";
import { about, memberOf, type Stage } from "./stage.ts";

const alerts = ["EtcdSlowFsync", "EtcdSlowCommit"];

export function diskFaults(the: () => Stage): void {
  describe("a disk", { concurrency: 1 }, () => {
    let cluster: TestCluster | undefined;
    let writer: Writer | undefined;
    before(async () => {
      cluster = await memberOf(the(), "slow", {});
      await cluster.untilHealthy();
      writer = new Writer(cluster);
    });
    after(async () => {
      await writer?.stop();
      if (cluster !== undefined) await kube.delete(EtcdCluster, cluster.key);
    });

    test("is slow, and as fast as before", async () => {
      assert.ok(cluster && writer);
      const where = about(cluster);
      const [member] = (await cluster.untilHealthy()).members;
      const pod = `${cluster.namespace}/${member?.name}`;
      await writer.progress();
      await the().proof.silent(where, ...alerts);
      await slowDisk(lab, pod, 1);
      try {
        await the().proof.fires(where, ...alerts);
      } finally {
        await fastDisk(lab, pod);
      }
      await the().proof.silent(where, ...alerts);
      await writer.nothingIsLost();
    });
  });
}
