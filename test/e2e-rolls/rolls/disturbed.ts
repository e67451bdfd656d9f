// Rolls that something comes in between: once the first member is updated a pod is lost, the leader dies, or the spec is edited
// again. Each roll ends as the spec says at last, and nothing is lost.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { killContainer } from "../../../lab/faults/containers.ts";
import { waitFor } from "../../../lab/progress.ts";
import type { EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { deletePods } from "../../e2e/support/disruptions.ts";
import { lab, patience, patiently } from "../../e2e/support/environment.ts";
import type { HealthyCluster } from "../../e2e/support/healthy.ts";
import { IdentityWatch } from "../../e2e/proofs/identity-watch.ts";
import { type Lane, lane } from "../../e2e/support/lane.ts";
import { QuorumWatch } from "../../e2e/proofs/quorum-watch.ts";
import { type HalfRolled, type RollingMember, runs, untilHalfRolled, untilRolled } from "../../e2e/proofs/rolled.ts";
import { holdSameData } from "../../e2e/proofs/same-data.ts";
import { type Row, rowsOf } from "../../support/matrix.ts";

/** Something that a roll goes from and to. */
interface Target {
  readonly edit: Partial<EtcdClusterSpec>;
  readonly isReached: (member: RollingMember) => boolean;
}

const etcd = (version: string): Target => ({ edit: { version }, isReached: runs(version) });
const snapshots = (snapshotCount: number): Target => ({
  edit: { etcd: { snapshotCount } },
  isReached: ({ pod }) => pod.spec?.containers[0]?.command?.includes(`--snapshot-count=${snapshotCount}`) ?? false,
});

interface Disturbance extends Row {
  readonly what: string;
  readonly from: Target;
  readonly to: Target;
  /** Happens in the middle of the roll. */
  readonly disturb: (lane: Lane, half: HalfRolled, row: Disturbance) => Promise<void>;
  /** Default: `to`. */
  readonly endsIn?: "from" | "to";
  /** It takes a member away while the roll may be restarting another one. */
  readonly mayCostQuorum?: true;
}

/** Deletes the pod of a member that is to be changed, and not the next one. */
const podDeleted: Disturbance["disturb"] = async ({ cluster }, { others }) => {
  const victim = others.at(-1);
  assert.ok(victim);
  await deletePods(cluster, victim);
};

const updatedPodDeleted: Disturbance["disturb"] = async ({ cluster }, { updated }) => {
  const [victim] = updated;
  assert.ok(victim);
  await deletePods(cluster, victim);
};

/** The roll may be restarting that very container: then the one that leads next is killed. */
const leaderKilled: Disturbance["disturb"] = async ({ cluster }) => {
  const killed = async (): Promise<true> => {
    const { status } = await cluster.until("a leader", ({ status }) => Boolean(status?.leader));
    await killContainer(lab, `${cluster.namespace}/${status?.leader}`);
    return true;
  };
  await waitFor("the leader to be killed", killed, { timeoutMs: patience });
};

const scaledUpAndDown: Disturbance["disturb"] = async ({ cluster }) => {
  await cluster.scale(5);
  await cluster.until("etcd lists a new member", ({ status }) => (status?.size ?? 0) > 3);
  await cluster.scale(3);
};

const editedBack: Disturbance["disturb"] = ({ cluster }, _half, { from }) => cluster.edit(from.edit);

const editedBackAndForth: Disturbance["disturb"] = async ({ cluster }, _half, { from, to }) => {
  await cluster.edit(from.edit);
  await cluster.untilObserved();
  await cluster.edit(to.edit);
};

/** Most begin where the last one ended. The simulated histories have all of these, and more. */
const upgrades: readonly Disturbance[] = [
  {
    what: "a pod is deleted",
    from: etcd("3.5.35"),
    to: etcd("3.6.16"),
    disturb: podDeleted,
    mayCostQuorum: true,
  },
  {
    what: "the leader is killed, on the way back,",
    from: etcd("3.6.16"),
    to: etcd("3.5.35"),
    disturb: leaderKilled,
    mayCostQuorum: true,
  },
  {
    what: "the pod of the updated member is deleted",
    from: etcd("3.5.35"),
    to: etcd("3.6.16"),
    disturb: updatedPodDeleted,
    mayCostQuorum: true,
    onlyInMatrix: true,
  },
  {
    what: "it is scaled to 5 and back to 3",
    from: etcd("3.5.35"),
    to: etcd("3.6.16"),
    disturb: scaledUpAndDown,
    onlyInMatrix: true,
  },
];

const returns: readonly Disturbance[] = [
  {
    what: "the version is edited back",
    from: etcd("3.6.16"),
    to: etcd("3.7.3"),
    disturb: editedBack,
    endsIn: "from",
  },
  {
    what: "the version is edited back and forth",
    from: etcd("3.6.16"),
    to: etcd("3.7.3"),
    disturb: editedBackAndForth,
    onlyInMatrix: true,
  },
];

const replacements: readonly Disturbance[] = [
  { what: "a pod is deleted", from: snapshots(5_000), to: snapshots(6_000), disturb: podDeleted },
  {
    what: "the leader is killed",
    from: snapshots(6_000),
    to: snapshots(7_000),
    disturb: leaderKilled,
    onlyInMatrix: true,
  },
  {
    what: "the pod of the updated member is deleted",
    from: snapshots(7_000),
    to: snapshots(8_000),
    disturb: updatedPodDeleted,
    onlyInMatrix: true,
  },
  {
    what: "it is scaled to 5 and back to 3",
    from: snapshots(7_000),
    to: snapshots(8_000),
    disturb: scaledUpAndDown,
    onlyInMatrix: true,
  },
  {
    what: "the setting is edited back",
    from: snapshots(7_000),
    to: snapshots(8_000),
    disturb: editedBack,
    endsIn: "from",
    onlyInMatrix: true,
  },
  {
    what: "the setting is edited back and forth",
    from: snapshots(7_000),
    to: snapshots(8_000),
    disturb: editedBackAndForth,
    onlyInMatrix: true,
  },
];

export function disturbed(): void {
  for (const { name, spec, what, rows } of [
    { name: "upgrading", spec: { version: "3.5.35" }, what: "an upgrade", rows: upgrades },
    { name: "returning", spec: { version: "3.6.16" }, what: "an upgrade", rows: returns },
    {
      name: "replacing",
      spec: { etcd: { snapshotCount: 5_000 } },
      what: "a replacement of members",
      rows: replacements,
    },
  ])
    describe(`${what} that is disturbed`, { concurrency: 1 }, () => {
      const on = lane(name, { size: 3, ...spec });

      for (const row of rowsOf(rows))
        test(`${what} during which ${row.what} ends as the spec says, and loses nothing`, async () => {
          const { cluster, writer, first } = on();
          // Most rows begin where the last one ended.
          await cluster.edit(row.from.edit);
          await untilRolled(cluster);
          await using quorum = new QuorumWatch(cluster);
          await using identity = new IdentityWatch(cluster, first.clusterId);
          // Awaited from the start: on a busy machine the answer to the edit may come after the roll.
          const halfRolled = identity.during(untilHalfRolled(cluster, row.to.isReached));
          const [half] = await Promise.all([halfRolled, cluster.edit(row.to.edit)]);
          await row.disturb(on(), half, row);
          const after = await identity.during(untilRolled(cluster));
          assert.equal(after.clusterId, first.clusterId);
          await everyMember(after, row.endsIn === "from" ? row.from : row.to, on());
          await holdSameData(after);
          await writer.nothingIsLost();
          if (!row.mayCostQuorum) await quorum.alwaysQuorum();
          await identity.neverViolated();
        });
    });
}

async function everyMember({ members }: HealthyCluster, target: Target, { cluster }: Lane): Promise<void> {
  assert.equal(members.length, 3);
  for (const { name, etcd } of members) {
    const pod = await cluster.pod(name);
    assert.ok(pod);
    assert.ok(
      target.isReached({ name, pod, version: (await etcd.status(patiently)).version }),
      `${name} is not updated`,
    );
  }
}
