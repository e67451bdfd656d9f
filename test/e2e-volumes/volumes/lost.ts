// A volume that is wiped, corrupted or deleted costs one member: it is replaced through the quorum, and nobody else is
// touched. Its old claim is kept for people, or deleted where that is asked for.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type EtcdClusterSpec, withDefaults } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { seedName } from "../../../src/cluster/objects/names.ts";
import { PersistentVolumeClaim } from "../../../src/kube/objects/kinds.ts";
import { wipeData } from "../../e2e/support/disruptions.ts";
import { kube } from "../../e2e/support/environment.ts";
import { followers, type HealthyCluster, type HealthyMember } from "../../e2e/support/healthy.ts";
import { IdentityWatch } from "../../e2e/proofs/identity-watch.ts";
import { type Lane, lane } from "../../e2e/support/lane.ts";
import { onlyReplaced } from "../../e2e/proofs/replaced.ts";
import { type Row, rowsOf } from "../../support/matrix.ts";
import { flipDatabase, flipLog } from "../support/corruption.ts";
import { Copies } from "../support/copies.ts";
import { beganOnce } from "../support/returned.ts";
import { claimNames, claimsOf, onVolumes, untilClaims } from "../support/volumes.ts";

const size = 3;
const spec: EtcdClusterSpec = { size, pod: onVolumes(), failover: { crashLoopAfterSeconds: 5 } };

interface Loss extends Row {
  readonly what: string;
  readonly victim?: (lane: Lane, before: HealthyCluster) => Promise<HealthyMember | undefined>;
  readonly lose: (lane: Lane, victim: HealthyMember) => Promise<void>;
  /** The reason of an event that names the member. */
  readonly event: string;
  /** The claim is gone with its volume. */
  readonly isDeleted?: true;
}

const losses: readonly Loss[] = [
  {
    what: "the seed's volume is wiped",
    victim: async ({ cluster }, { members }) => {
      const seed = seedName(withDefaults(await cluster.get()));
      return members.find(({ name }) => name === seed);
    },
    lose: ({ cluster }, { name }) => wipeData(cluster, name),
    event: "Member Lost Its Data",
  },
  {
    // The last test below wipes one, too.
    what: "a volume is wiped",
    onlyInMatrix: true,
    lose: ({ cluster }, { name }) => wipeData(cluster, name),
    event: "Member Lost Its Data",
  },
  {
    what: "bytes of a database flip",
    lose: ({ cluster }, { name }) => flipDatabase(cluster, name),
    event: "Member Removed",
  },
  {
    what: "bytes of a raft log flip",
    onlyInMatrix: true,
    lose: ({ cluster, writer }, { name }) => flipLog(cluster, name, writer.prefix),
    event: "Member Removed",
  },
  {
    what: "the claim is deleted under a pod that runs",
    onlyInMatrix: true,
    lose: ({ cluster }, { name }) =>
      kube.delete(PersistentVolumeClaim, { namespace: cluster.namespace, name }).then(() => {}),
    event: "Member Removed",
    isDeleted: true,
  },
];

export function lost(): void {
  describe("a volume that is lost", { concurrency: 1 }, () => {
    const on = lane("lost", spec);

    for (const { what, victim: find, lose, event, isDeleted } of rowsOf(losses))
      test(`when ${what}, its member is replaced, and nobody else is touched`, async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        const victim = (await find?.(on(), before)) ?? followers(before)[0];
        assert.ok(victim);
        const { retired } = claimNames(await claimsOf(cluster));
        await writer.progress(20);
        await using watch = new IdentityWatch(cluster, before.clusterId);
        await lose(on(), victim);
        const after = await watch.during(cluster.untilHealthy({ without: [victim.name] }));
        onlyReplaced(before, after, victim.name);
        othersNotRestarted(before, after);
        await cluster.untilEvent(event, ({ note }) => note?.includes(victim.name) ?? false);
        const current = after.members.map(({ name }) => name);
        await untilClaims(cluster, { current, retired: isDeleted ? retired : [...retired, victim.name] });
        await writer.nothingIsLost();
        await beganOnce(cluster);
        await watch.neverViolated();
      });

    test("when all claims are deleted under members that serve, each gets a successor before it goes", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const names = before.members.map(({ name }) => name);
      const { retired } = claimNames(await claimsOf(cluster));
      await using watch = new IdentityWatch(cluster, before.clusterId);
      await using copies = new Copies(cluster);
      const { namespace } = cluster;
      await Promise.all(names.map((name) => kube.delete(PersistentVolumeClaim, { namespace, name })));
      await cluster.untilEvent("Volumes Doomed", ({ note }) => names.some((name) => note?.includes(name)));
      const after = await watch.during(cluster.untilHealthy({ without: names }));
      onlyReplaced(before, after, ...names);
      await untilClaims(cluster, { current: after.members.map(({ name }) => name), retired });
      await writer.progress(20);
      await writer.nothingIsLost();
      await beganOnce(cluster);
      await watch.neverViolated();
      await copies.neverFewerThan(size);
    });

    test("with whenMemberRemoved Delete, the claim of a wiped volume is deleted, and those kept before stay", async () => {
      const { cluster, writer } = on();
      await cluster.edit({ volumeRetention: { whenMemberRemoved: "Delete" } });
      const before = await cluster.untilHealthy();
      const [victim] = followers(before);
      assert.ok(victim);
      const { retired } = claimNames(await claimsOf(cluster));
      await wipeData(cluster, victim.name);
      const after = await cluster.untilHealthy({ without: [victim.name] });
      onlyReplaced(before, after, victim.name);
      othersNotRestarted(before, after);
      await untilClaims(cluster, { current: after.members.map(({ name }) => name), retired });
      await writer.nothingIsLost();
    });
  });
}

function othersNotRestarted(before: HealthyCluster, after: HealthyCluster): void {
  for (const { name, restarts } of before.members) {
    const same = after.members.find((member) => member.name === name);
    if (same !== undefined) assert.equal(same.restarts, restarts, `restarts of ${name}`);
  }
}
