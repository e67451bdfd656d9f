// Other settings: members with volumes get other pods on them, and stay the members that they are. Volumes that are added or
// taken away replace the members.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster, type EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { eventReasons } from "../../../src/api/events.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { kube } from "../../e2e/support/environment.ts";
import type { HealthyCluster } from "../../e2e/support/healthy.ts";
import { IdentityWatch } from "../../e2e/proofs/identity-watch.ts";
import { type Lane, lane } from "../../e2e/support/lane.ts";
import { eachHas } from "../../e2e/support/member-process.ts";
import { QuorumWatch } from "../../e2e/proofs/quorum-watch.ts";
import { onlyReplaced } from "../../e2e/proofs/replaced.ts";
import { RollWatch } from "../../e2e/proofs/roll-watch.ts";
import { untilRolled } from "../../e2e/proofs/rolled.ts";
import { beganOnce, onlyReturned } from "../support/returned.ts";
import { eachOnItsClaim, onVolumes, untilClaims } from "../support/volumes.ts";
import { matrixTest } from "../../support/matrix.ts";

const size = 3;
const namesOf = ({ members }: HealthyCluster): string[] => members.map(({ name }) => name);

export function settings(): void {
  describe("settings of members", { concurrency: 1 }, () => {
    const on = lane("settings", { size });

    test("members get volumes: each is replaced once, under writes", async () => {
      const { cluster } = on();
      const after = await replacedAfter(on(), { pod: onVolumes() });
      await eachOnItsClaim(cluster);
      await untilClaims(cluster, { current: namesOf(after), retired: [] });
    });

    test("for another setting of etcd each member gets another pod on its volume, the leader last", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await using quorum = new QuorumWatch(cluster, { fewest: size - 1 });
      await using identity = new IdentityWatch(cluster, before.clusterId);
      await using roll = new RollWatch(cluster);
      await cluster.edit({ etcd: { snapshotCount: 5_000 } });
      const after = await identity.during(untilRolled(cluster));
      onlyReturned(before, after, ...namesOf(before));
      await leaderWasLast(cluster, before, after);
      await eachHas(cluster, after, (_pod, { args }) => assert.ok(args.includes("--snapshot-count=5000")));
      await untilClaims(cluster, { current: namesOf(before), retired: [] });
      await writer.nothingIsLost();
      await roll.replacedEachOnce(before);
      await quorum.alwaysQuorum();
      await identity.neverViolated();
      await beganOnce(cluster);
    });

    // The same replacement as that of members that get volumes; the simulated histories have both.
    matrixTest(
      "members lose their volumes: each is replaced once, under writes, and the volumes are kept",
      async () => {
        const { cluster } = on();
        const before = await cluster.untilHealthy();
        await replacedAfter(on(), { pod: { persistentVolumeClaimSpec: null } });
        for (const { spec } of await cluster.pods())
          assert.ok(spec?.volumes?.every(({ persistentVolumeClaim }) => persistentVolumeClaim === undefined));
        await untilClaims(cluster, { current: [], retired: namesOf(before) });
      },
    );
  });
}

/**
 * On a busy machine etcd may elect another leader by itself, and then that one is last. Whoever it is: the operator does not
 * have another lead before the others have their pods.
 */
async function leaderWasLast(cluster: TestCluster, before: HealthyCluster, after: HealthyCluster): Promise<void> {
  const [latest, second = Number.NaN] = after.members.map(({ madeAt }) => madeAt).toSorted((a, b) => b - a);
  if (after.members.find(({ name }) => name === before.leader.name)?.madeAt === latest) return;
  const moves = (await cluster.events()).filter(
    ({ reason, note }) => reason === eventReasons.leaderMoved.reason && note?.includes("about to be restarted"),
  );
  for (const { eventTime, note } of moves) assert.ok(Date.parse(eventTime ?? "") >= second, `${eventTime}: ${note}`);
}

type Edit = Partial<Omit<EtcdClusterSpec, "pod">> & { readonly pod: object };

async function replacedAfter({ cluster, writer }: Lane, spec: Edit): Promise<HealthyCluster> {
  const before = await cluster.untilHealthy();
  await using quorum = new QuorumWatch(cluster, { fewest: size });
  await using identity = new IdentityWatch(cluster, before.clusterId);
  await using roll = new RollWatch(cluster);
  await kube.mergePatch(EtcdCluster, cluster.key, { spec });
  const after = await identity.during(untilRolled(cluster));
  onlyReplaced(before, after, ...namesOf(before));
  await writer.nothingIsLost();
  await roll.replacedEachOnce(before);
  await quorum.alwaysQuorum();
  await identity.neverViolated();
  return after;
}
