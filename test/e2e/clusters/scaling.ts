// Scaling: one safe step at a time, however often spec.size changes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { PodDisruptionBudget } from "../../../src/kube/objects/kinds.ts";
import { kubectl } from "../../support/kubectl.ts";
import { type Row, rowsOf } from "../../support/matrix.ts";
import type { TestCluster } from "../support/cluster.ts";
import { kube, patience } from "../support/environment.ts";
import { lane } from "../support/lane.ts";
import { QuorumWatch } from "../proofs/quorum-watch.ts";
import type { HealthyCluster, HealthyMember } from "../support/healthy.ts";
import { termOf } from "../support/undisturbed.ts";

export function scaling(): void {
  describe("scaling", { concurrency: 1 }, () => {
    const on = lane("scaling", { size: 3 });

    for (const { from, to } of rowsOf<Row & { from: number; to: number }>([
      { from: 3, to: 5 },
      { from: 5, to: 1 },
      { from: 1, to: 3 },
      { from: 3, to: 1, onlyInMatrix: true },
      { from: 1, to: 7, onlyInMatrix: true },
      { from: 7, to: 3, onlyInMatrix: true },
    ]))
      test(`kubectl scale takes a cluster from ${from} to ${to} members, removes the newest first, and never goes below a quorum`, async () => {
        const { cluster, writer, first } = on();
        const before = await cluster.untilHealthy();
        const leading = await Leading.of(cluster, before);
        await using watch = new QuorumWatch(cluster);
        await cluster.scale(to);
        const after = await cluster.untilHealthy();
        const leaders = await leading.until(after);
        assert.equal(after.clusterId, first.clusterId);
        assert.equal(after.members.length, to);
        assert.equal(stayed(before, after).length, Math.min(from, to), "no member was replaced");
        if (to < from) assert.ok(leaders.has(after.leader.id), "the leader stays");
        assert.deepEqual(spared(before, after, leaders), []);
        // The budget holds up nothing: the cluster may be Ready before.
        const budget = async (): Promise<boolean> =>
          (await kube.get(PodDisruptionBudget, cluster.key)).spec?.minAvailable === Math.max(1, to - 1);
        await waitFor("the budget of the new size", async () => (await budget()) || undefined, { timeoutMs: patience });
        await writer.nothingIsLost();
        await watch.alwaysQuorum();
      });

    test("a scale-down that overtakes a scale-up removes only the new members", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const leading = await Leading.of(cluster, before);
      await using watch = new QuorumWatch(cluster);
      await cluster.edit({ size: 5 });
      await untilNewMember(before);
      await cluster.edit({ size: 3 });
      const after = await cluster.untilHealthy();
      assert.equal(after.clusterId, before.clusterId);
      const leaders = await leading.until(after);
      const isKept = ({ id }: HealthyMember): boolean => before.members.some((member) => member.id === id);
      // A new member stays only where it was elected, and then one of the others goes.
      const fresh = after.members.filter((member) => !isKept(member));
      assert.ok(fresh.length <= (leaders.size > 1 ? 1 : 0), fresh.map(identity).join("; "));
      assert.equal(stayed(before, after).length + fresh.length, 3);
      await writer.nothingIsLost();
      await watch.alwaysQuorum();
    });

    for (const { storm } of rowsOf<Row & { storm: readonly number[] }>([
      { storm: [5, 1, 3], onlyInMatrix: true },
      { storm: [5, 1, 7, 3] },
    ]))
      test(`sizes ${storm.join(", ")} within a second end at 3, the leader is still there, and nothing is lost`, async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        const leading = await Leading.of(cluster, before);
        await using watch = new QuorumWatch(cluster);
        for (const size of storm) await cluster.edit({ size });
        const after = await cluster.untilHealthy();
        const leaders = await leading.until(after);
        assert.equal(after.clusterId, before.clusterId);
        assert.equal(after.members.length, 3);
        // If the operator observed size 1, it may have removed all others.
        assert.ok(stayed(before, after).some(({ id }) => leaders.has(id)));
        await writer.nothingIsLost();
        await watch.alwaysQuorum();
      });

    test("an even size is accepted with a warning", async () => {
      const { cluster, writer } = on();
      await cluster.scale(2);
      assert.equal((await cluster.untilHealthy()).members.length, 2);
      const event = await cluster.untilEvent("Even Size");
      assert.equal(event.type, "Warning");
      await cluster.scale(3);
      await cluster.untilHealthy();
      await writer.nothingIsLost();
    });

    test("an invalid size is refused with the allowed range", async () => {
      const { cluster } = on();
      const scaled = kubectl(
        "scale",
        `--namespace=${cluster.namespace}`,
        `etcdcluster/${cluster.name}`,
        "--replicas=0",
      );
      await assert.rejects(scaled, /from 1 to 9/);
      await assert.rejects(kube.mergePatch(EtcdCluster, cluster.key, { spec: { size: 12 } }), /from 1 to 9/);
    });
  });
}

const identity = ({ name, id, uid }: HealthyMember): string => `${name} ${id} ${uid}`;

/** Members that kept their id and pod. */
function stayed(before: HealthyCluster, after: HealthyCluster): readonly HealthyMember[] {
  const known = new Set(before.members.map(identity));
  return after.members.filter((member) => known.has(identity(member)));
}

/**
 * Who led meanwhile. On a busy machine etcd elects other leaders by itself: that raises the term, and no event tells of it. An event
 * of the operator that comes late makes an election of a move, which only asks for less.
 */
class Leading {
  readonly #cluster: TestCluster;
  readonly #before: HealthyCluster;
  readonly #term: number;
  readonly #moves: number;

  private constructor(cluster: TestCluster, before: HealthyCluster, term: number, moves: number) {
    this.#cluster = cluster;
    this.#before = before;
    this.#term = term;
    this.#moves = moves;
  }

  static async of(cluster: TestCluster, before: HealthyCluster): Promise<Leading> {
    return new Leading(cluster, before, await termOf(before), await movesOf(cluster));
  }

  /** The leader of before alone, unless others were elected: then it may have been anybody. */
  async until(after: HealthyCluster): Promise<ReadonlySet<string>> {
    const moves = (await movesOf(this.#cluster)) - this.#moves;
    const isElected = (await termOf(after)) > this.#term + moves;
    const everybody = [...this.#before.members, ...after.members].map(({ id }) => id);
    return new Set(isElected ? everybody : [this.#before.leader.id]);
  }
}

/** How often the operator has moved the leader. */
async function movesOf(cluster: TestCluster): Promise<number> {
  const moves = (await cluster.events()).filter(({ reason }) => reason === "Leader Moved");
  return moves.reduce((count, { series }) => count + (series?.count ?? 1), 0);
}

/** Members that stayed though they are newer than one that was removed. The leader may be. */
function spared(before: HealthyCluster, after: HealthyCluster, leaders: ReadonlySet<string>): readonly string[] {
  const kept = new Set(stayed(before, after).map(identity));
  const gone = before.members.filter((member) => !kept.has(identity(member)));
  const oldest = Math.min(...gone.map(({ madeAt }) => madeAt));
  const others = before.members.filter((member) => kept.has(identity(member)) && !leaders.has(member.id));
  return others.filter(({ madeAt }) => madeAt > oldest).map(({ name }) => name);
}

/** Waits until etcd lists a new member, learner or voter. */
async function untilNewMember({ leader, members }: HealthyCluster): Promise<void> {
  const known = new Set(members.map(({ id }) => id));
  let seen = "";
  await waitFor(
    "etcd to list a new member",
    async () => {
      const list = await leader.etcd.memberList({ linearizable: true });
      seen = list.members.map(({ name, id }) => name || id).join(", ");
      return list.members.some(({ id }) => !known.has(id)) ? true : undefined;
    },
    { timeoutMs: patience, everyMs: 20, lastSeen: () => seen },
  );
}
