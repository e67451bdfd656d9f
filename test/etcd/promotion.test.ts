// Promotion of a learner that does not serve clients yet: etcd accepts it once the leader knows that it has caught up.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { comesTrue, grow, isRefusal, succeedsInTime } from "../../src/etcd/testing/world.ts";
import { has } from "../../src/etcd/versions/features.ts";
import { version } from "../../src/etcd/versions/version.ts";
import { triedVersions } from "../support/matrix.ts";
import { RealEtcd } from "./real-etcd.ts";

describe("every version", { concurrency: 3 }, () => {
  for (const built of triedVersions.filter((one) => has(version(one), "learners")))
    describe(`etcd ${built}`, { concurrency: 1 }, () => {
      test("a learner that never ran is not promoted; one that runs is promoted before it serves, and has all data", async () => {
        await using etcd = await RealEtcd.start(built);
        const m0 = etcd.member("m0");
        await grow(etcd, "m1");
        // Enough for newer versions to send a snapshot.
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

        // Its vote counts: m0 alone has no quorum.
        await etcd.kill("m1");
        await comesTrue(
          etcd,
          "m0 and m2 have quorum",
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
