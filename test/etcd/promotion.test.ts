// A vote for one that answers nobody yet: the leader knows how far it is, so etcd takes the promotion, and not before.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { etcdVersions } from "../../lab/build/etcd.ts";
import { comesTrue, grow, isRefusal, succeedsInTime } from "../../src/etcd/testing/world.ts";
import { has } from "../../src/etcd/versions/features.ts";
import { version } from "../../src/etcd/versions/version.ts";
import { RealEtcd } from "./real-etcd.ts";

describe("every version", { concurrency: 3 }, () => {
  for (const built of etcdVersions.filter((one) => has(version(one), "learners")))
    describe(`etcd ${built}`, { concurrency: 1 }, () => {
      test("one that never ran gets no vote; one that is asked for nothing but its name gets it, and has all data", async () => {
        await using etcd = await RealEtcd.start(built);
        const m0 = etcd.member("m0");
        await grow(etcd, "m1");
        // So many that newer versions send a snapshot.
        for (let n = 0; n < 150; n += 1) await m0.put(`key-${n}`, "1");
        const wanted = { as: "learner", peerUrls: [etcd.peerUrl("m2")], oldestServer: etcd.version } as const;
        const { member } = await succeedsInTime(
          etcd,
          "adding m2",
          () => m0.memberAdd(wanted),
          isRefusal("unhealthyCluster"),
        );
        await assert.rejects(m0.memberPromote(member.id), isRefusal("learnerNotReady"));
        await etcd.launch("m2");
        const listed = () => m0.memberList({ linearizable: true });
        await comesTrue(etcd, "its name is known", listed, ({ members }) => members.every(({ name }) => name !== ""));
        await succeedsInTime(etcd, "promotion", () => m0.memberPromote(member.id), isRefusal("learnerNotReady"));

        // It counts: without it the other could not decide.
        await etcd.kill("m1");
        await comesTrue(
          etcd,
          "m0 decides with it",
          () => m0.health(),
          ({ t }) => t === "healthy",
        );
        const { keys } = await comesTrue(
          etcd,
          "it answers",
          () => etcd.member("m2").list("key-"),
          () => true,
        );
        assert.equal(keys.length, 150);
      });
    });
});
