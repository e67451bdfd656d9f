// A member that comes back without its data must not serve, vote, or found a cluster of its own: it is replaced through
// the others, while clients write.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withDefaults } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { seedName } from "../../../src/cluster/objects/names.ts";
import { deletePods, wipeData } from "../support/harm.ts";
import { IdentityWatch } from "../support/identity-watch.ts";
import { type Lane, lane } from "../support/lane.ts";
import { othersStay } from "../support/stay.ts";
import { followers, type Whole, type WholeMember } from "../support/whole.ts";

export function wiped(): void {
  describe("wiped", { concurrency: 1 }, () => {
    const on = lane("wiped", { size: 3, failover: { crashLoopAfterSeconds: 5 } });

    test("the first member that comes back without its data is replaced, and never serves an empty cluster", async () => {
      const { cluster } = on();
      const before = await cluster.whole();
      const seed = seedName(withDefaults(await cluster.get()));
      await isReplacedWhenWiped(on(), before, memberNamed(before, seed));
    });

    test("a member that joined later and comes back without its data is replaced, and never votes without it", async () => {
      const { cluster } = on();
      const first = await cluster.whole();
      const [deleted] = followers(first);
      assert.ok(deleted);
      await deletePods(cluster, deleted.name);
      const before = await cluster.whole({ without: [deleted.name] });
      // The list that it joined with is still the list of members, so etcd itself would let it start again, empty.
      const joiner = before.members.find(({ id }) => !first.members.some((member) => member.id === id));
      assert.ok(joiner);
      await isReplacedWhenWiped(on(), before, joiner);
    });
  });
}

async function isReplacedWhenWiped({ cluster, writer }: Lane, before: Whole, victim: WholeMember): Promise<void> {
  await writer.progress();
  await using watch = new IdentityWatch(cluster, before.clusterId);
  await wipeData(cluster, victim.name);
  // A new leader does not know what the member had acknowledged; the old one would make it panic.
  await moveLeader(before, victim);
  othersStay(before, await watch.during(cluster.whole({ without: [victim.name] })), victim.name);
  await cluster.untilEvent("Member Lost Its Data", ({ note }) => note?.includes(victim.name) ?? false);
  await writer.nothingIsLost();
  await watch.alwaysTheSame();
}

async function moveLeader({ leader, members }: Whole, victim: WholeMember): Promise<void> {
  const heir = members.find(({ id }) => id !== leader.id && id !== victim.id);
  assert.ok(heir);
  if (leader.id !== victim.id) await leader.etcd.moveLeader((await heir.etcd.status()).memberId);
}

function memberNamed({ members }: Whole, name: string): WholeMember {
  const member = members.find((candidate) => candidate.name === name);
  assert.ok(member, `${name} is not among ${members.map((candidate) => candidate.name).join(", ")}`);
  return member;
}
