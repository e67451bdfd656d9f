// Leaders that change again and again, a roll that does not go on, and a spec that waits for a person.
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { patchSpec } from "../bad-inputs/bad-case.ts";
import { patience, patiently } from "../support/environment.ts";
import type { HealthyCluster } from "../support/healthy.ts";
import { about, type Stage } from "./stage.ts";

export function changeFaults(the: () => Stage): void {
  describe("a cluster of three", { concurrency: 1 }, () => {
    test("elects leaders again and again, and keeps one", async () => {
      const { plain, proof } = the();
      const healthy = await plain.untilHealthy();
      await proof.silent(about(plain), "EtcdLeaderChanges");
      for (let moves = 0; moves < 8; moves += 1) await moveLeader(healthy);
      await proof.fires(about(plain), "EtcdLeaderChanges");
      await proof.silent(about(plain), "EtcdLeaderChanges");
      await plain.untilHealthy();
    });

    test("cannot get another image, and keeps the one that it has", async () => {
      const { plain, proof } = the();
      await proof.silent(about(plain), "EtcdRollStuck");
      await patchSpec(plain.key, { repository: "registry.invalid/etcd" });
      await proof.fires(about(plain), "EtcdRollStuck");
      await patchSpec(plain.key, { repository: null });
      await proof.silent(about(plain), "EtcdRollStuck");
      await plain.untilHealthy();
    });

    test("is asked for what etcd does not know, and is corrected", async () => {
      const { plain, proof } = the();
      const where = { ...about(plain), reason: "InvalidSpec" };
      await proof.silent(where, "EtcdClusterStalled");
      await patchSpec(plain.key, { etcd: { extraArgs: ["--no-such-flag=1"] } });
      await proof.fires(where, "EtcdClusterStalled");
      await patchSpec(plain.key, { etcd: null });
      await proof.silent(where, "EtcdClusterStalled");
      await plain.untilHealthy();
    });
  });
}

/** To whoever comes next. The leader is asked for each time: a busy machine may elect one by itself. */
async function moveLeader({ members }: HealthyCluster): Promise<void> {
  await waitFor(
    "another leader",
    async () => {
      const seen = await Promise.all(members.map(({ etcd }) => etcd.status(patiently)));
      const at = seen.findIndex(({ memberId }) => seen.every(({ leader }) => leader === memberId));
      const next = seen[(at + 1) % seen.length];
      if (at < 0 || next === undefined) return undefined;
      await members[at]?.etcd.moveLeader(next.memberId, patiently);
      return true;
    },
    { timeoutMs: patience },
  );
}
