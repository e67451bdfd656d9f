// A member that restarts without its data must not serve, vote, or start a cluster of its own: it is replaced, while clients
// write.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { withDefaults } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { seedName } from "../../../src/cluster/objects/names.ts";
import { deletePods, wipeData } from "../support/disruptions.ts";
import { IdentityWatch } from "../proofs/identity-watch.ts";
import { type Lane, lane } from "../support/lane.ts";
import { onlyReplaced } from "../proofs/replaced.ts";
import { followers, type HealthyCluster, type HealthyMember } from "../support/healthy.ts";
import { patience, patiently } from "../support/environment.ts";
import { matrixTest } from "../../support/matrix.ts";

export function wiped(): void {
  describe("wiped", { concurrency: 1 }, () => {
    const on = lane("wiped", { size: 3, failover: { crashLoopAfterSeconds: 5 } });

    // test/e2e-volumes/volumes/lost.ts wipes a seed, too.
    matrixTest("a seed that restarts without its data is replaced, and never serves an empty cluster", async () => {
      const { cluster } = on();
      const before = await cluster.untilHealthy();
      const seed = seedName(withDefaults(await cluster.get()));
      await isReplacedWhenWiped(on(), before, memberNamed(before, seed));
    });

    test("a joiner that restarts without its data is replaced, and never votes without it", async () => {
      const { cluster } = on();
      const first = await cluster.untilHealthy();
      const [deleted] = followers(first);
      assert.ok(deleted);
      await deletePods(cluster, deleted.name);
      const before = await cluster.untilHealthy({ without: [deleted.name] });
      // Its initial-cluster still matches the member list, so etcd itself would let it start empty.
      const joiner = before.members.find(({ id }) => !first.members.some((member) => member.id === id));
      assert.ok(joiner);
      await isReplacedWhenWiped(on(), before, joiner);
    });
  });
}

async function isReplacedWhenWiped(
  { cluster, writer }: Lane,
  before: HealthyCluster,
  victim: HealthyMember,
): Promise<void> {
  await writer.progress();
  await using watch = new IdentityWatch(cluster, before.clusterId);
  await wipeData(cluster, victim.name);
  // The old leader remembers what the member acknowledged and makes it panic; a new leader does not.
  await moveLeader(before, victim);
  onlyReplaced(before, await watch.during(cluster.untilHealthy({ without: [victim.name] })), victim.name);
  await cluster.untilEvent("Member Lost Its Data", ({ note }) => note?.includes(victim.name) ?? false);
  await writer.nothingIsLost();
  await watch.neverViolated();
}

/** A busy machine may have elected another one meanwhile, which is as good. */
async function moveLeader({ leader, members }: HealthyCluster, victim: HealthyMember): Promise<void> {
  const transferee = members.find(({ id }) => id !== leader.id && id !== victim.id);
  assert.ok(transferee);
  if (leader.id === victim.id) return;
  await waitFor(
    "another leader",
    async () => {
      const { leader: leads, memberId } = await transferee.etcd.status(patiently);
      if (leads !== undefined && leads !== leader.id) return true;
      await leader.etcd.moveLeader(memberId, patiently);
      return undefined;
    },
    { timeoutMs: patience },
  );
}

function memberNamed({ members }: HealthyCluster, name: string): HealthyMember {
  const member = members.find((candidate) => candidate.name === name);
  assert.ok(member, `${name} is not among ${members.map((candidate) => candidate.name).join(", ")}`);
  return member;
}
