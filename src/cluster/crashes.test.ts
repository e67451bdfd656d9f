// Crashes: the operator dies after one of its writes, each in turn, or never hears what came of one, and whoever comes after
// it ends where an undisturbed one does, with as much made and as little removed.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { EtcdClusterSpec } from "../api/etcd-cluster/etcd-cluster.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { volumesOf } from "./testing/happenings.ts";
import type { Fate } from "./testing/life.ts";
import { signerFor } from "./testing/tls/signer.ts";
import { key, Stage } from "./testing/stage.ts";

interface Scenario {
  readonly name: string;
  /** The members of the whole cluster that it begins with; 0: there is none. */
  readonly from: number;
  readonly to: number;
  /** The spec of the cluster that it begins with. */
  readonly version?: string;
  readonly spec?: Partial<EtcdClusterSpec>;
  readonly happens: (stage: Stage) => Promise<unknown>;
  /** Only every so manieth write is a crash here, else every third; `make matrix` tries them all. */
  readonly every?: number;
  /** What it takes depends on the moment of the crash. */
  readonly varies?: true;
}

const withTls = { TLS: { auto: true } };
const onVolumes = { pod: volumesOf("1Gi") };

const scenarios: readonly Scenario[] = [
  { name: "creation of 3", from: 0, to: 3, happens: (stage) => stage.create(3) },
  { name: "growth from 1 to 3", from: 1, to: 3, happens: (stage) => stage.resize(3) },
  { name: "growth from 3 to 5", from: 3, to: 5, happens: (stage) => stage.resize(5) },
  { name: "shrinking from 5 to 3", from: 5, to: 3, happens: (stage) => stage.resize(3) },
  { name: "shrinking from 3 to 1", from: 3, to: 1, happens: (stage) => stage.resize(1) },
  { name: "a deleted follower", from: 3, to: 3, happens: (stage) => stage.deletePod("follower") },
  { name: "a deleted leader", from: 3, to: 3, happens: (stage) => stage.deletePod("leader") },
  {
    name: "an upgrade of 3",
    from: 3,
    to: 3,
    version: "3.5.35",
    every: 12,
    happens: (stage) => stage.edit({ version: "3.6.16" }),
  },
  {
    name: "an upgrade of 3 through two minor versions, past entries of the first in the raft log",
    from: 3,
    to: 3,
    version: "3.5.35",
    every: 40,
    happens: (stage) => stage.edit({ version: "3.7.3", upgrade: { path: "Automatic" } }),
  },
  {
    name: "a downgrade of 3",
    from: 3,
    to: 3,
    version: "3.7.3",
    every: 16,
    happens: (stage) => stage.edit({ version: "3.6.16" }),
  },
  {
    name: "a change of settings of 3",
    from: 3,
    to: 3,
    every: 12,
    happens: (stage) => stage.edit({ etcd: { snapshotCount: 5000 } }),
  },
  {
    name: "creation of 3 with volumes",
    from: 0,
    to: 3,
    every: 5,
    happens: (stage) => stage.create(3, "3.6.16", onVolumes),
  },
  {
    name: "a deleted pod with a volume",
    from: 3,
    to: 3,
    spec: onVolumes,
    happens: (stage) => stage.deletePod("leader"),
  },
  {
    name: "all pods deleted at once, with volumes",
    from: 3,
    to: 3,
    spec: onVolumes,
    async happens(stage) {
      stage.watch.allowAbsence();
      for (const name of await stage.podNames()) await stage.api.delete(Pod, { ...key, name });
      await stage.pass(500);
    },
  },
  { name: "a deleted claim", from: 3, to: 3, spec: onVolumes, happens: (stage) => stage.deleteClaim() },
  {
    name: "all claims of 3 deleted under members that serve",
    from: 3,
    to: 3,
    spec: onVolumes,
    every: 12,
    happens: (stage) => stage.deleteClaims(),
  },
  {
    name: "volumes that grow",
    from: 3,
    to: 3,
    spec: onVolumes,
    happens: (stage) => stage.edit({ pod: volumesOf("2Gi") }),
  },
  {
    name: "a change of settings of 3 with volumes",
    from: 3,
    to: 3,
    spec: onVolumes,
    every: 12,
    happens: (stage) => stage.edit({ etcd: { snapshotCount: 5000 } }),
  },
  {
    name: "creation of 3 with TLS",
    from: 0,
    to: 3,
    every: 5,
    happens: (stage) => stage.create(3, "3.6.16", withTls),
  },
  {
    name: "creation of 3 with TLS and volumes",
    from: 0,
    to: 3,
    every: 12,
    happens: (stage) => stage.create(3, "3.6.16", { ...withTls, ...onVolumes }),
  },
  {
    name: "other CAs for 3",
    from: 3,
    to: 3,
    spec: withTls,
    every: 48,
    // How many rolls it takes depends on when peers and clients come to their next step.
    varies: true,
    happens: (stage) => stage.rotate("once"),
  },
  {
    name: "TLS for 3 that had none",
    from: 3,
    to: 3,
    every: 40,
    happens: (stage) => stage.edit(withTls),
  },
  {
    name: "no TLS any more for 3",
    from: 3,
    to: 3,
    spec: withTls,
    every: 40,
    happens: (stage) => stage.edit({ TLS: null }),
  },
  { name: "a restore of 3 in place", from: 3, to: 3, every: 8, happens: (stage) => stage.restore() },
  {
    name: "a restore of 3 with volumes in place",
    from: 3,
    to: 3,
    spec: onVolumes,
    every: 12,
    happens: (stage) => stage.restore(),
  },
  {
    name: "a restore into a new cluster",
    from: 0,
    to: 3,
    every: 8,
    happens: (stage) => stage.createRestored(3),
  },
  {
    name: "sizes 5, 1 and 3, a moment after each other",
    from: 3,
    to: 3,
    varies: true,
    async happens(stage) {
      for (const size of [5, 1, 3]) {
        await stage.resize(size);
        await stage.pass(700);
      }
    },
  },
];

/** More than any of them takes. */
const mostWrites = 200;
const isMatrix = process.env["MATRIX"] === "all";
/** Between two lives, while pods come up and go down: as long as a lease lasts, or as a container takes to start again. */
const absences = { "after a while": 5_000, "at once": 0 } as const;
const reportMs = 2_000;
/** Longer than a cluster at rest goes unlooked at. */
const quietMs = 40_000;

interface End {
  readonly crashed: boolean;
  readonly writes: readonly string[];
  readonly state: object;
  readonly made: object;
}

/** Each of the lives is as its fate says, the one after the last of them goes undisturbed. */
async function play(
  { from, to, version, spec, happens }: Scenario,
  fateOf: (life: number) => Fate,
  absenceMs: number = absences["after a while"],
): Promise<End> {
  const stage = new Stage({ signer: signerFor() });
  if (from > 0) {
    stage.startOperator();
    await stage.createWhole(from, version, spec);
    await stage.stopOperator();
  }
  const before = stage.writes.length;
  let lives = 1;
  stage.startOperator(fateOf(lives));
  await happens(stage);
  while ((await stage.untilOverOrWhole(to)) === "over") {
    assert.ok(lives < mostWrites, `${lives} lives were not enough: ${await stage.describe()}`);
    lives += 1;
    await stage.stopOperator();
    await stage.pass(absenceMs);
    stage.startOperator(fateOf(lives));
  }
  await stage.stopOperator();

  // A life that ends before it reports leaves an old status; after that there is nothing left to write.
  const last = stage.startOperator();
  await stage.pass(reportMs);
  assert.ok(
    last.writes.every((write) => write.startsWith("patch EtcdCluster")),
    last.writes.join(", "),
  );
  const reported = last.writes.length;
  await stage.pass(quietMs);
  assert.deepEqual(last.writes.slice(reported), [], await stage.describe());
  await stage.stopOperator();
  const writes = stage.writes.slice(before);
  return { crashed: lives > 1, writes, state: await stage.state(), made: countedBy(writes) };
}

/** What there is more or less of in the world; the status is written as often as there is news. */
function countedBy(writes: readonly string[]): object {
  const count = (what: RegExp): number => writes.filter((write) => what.test(write)).length;
  return {
    podsMade: count(/^create Pod/),
    podsDeleted: count(/^delete Pod/),
    added: count(/^add member/),
    promoted: count(/^promote member/),
    removed: count(/^remove member/),
    claimsMade: count(/^create PersistentVolumeClaim/),
    claimsDeleted: count(/^delete PersistentVolumeClaim/),
  };
}

const lives: Fate = { t: "lives" };

for (const scenario of scenarios) {
  describe(scenario.name, () => {
    const stride = isMatrix ? 1 : (scenario.every ?? 3);
    let clean: End;
    before(async () => {
      clean = await play(scenario, () => lives);
    });
    const same = (end: End, when: string): void => {
      assert.deepEqual(end.state, clean.state, when);
      if (!scenario.varies) assert.deepEqual(end.made, clean.made, `${when}: ${end.writes.join(", ")}`);
    };

    test("ends the same whichever of its writes the operator dies after", async () => {
      let points = 0;
      for (let after = 1; after <= mostWrites; after += stride) {
        const end = await play(scenario, (life) => (life === 1 ? { t: "dies", after } : lives));
        same(end, `died after its write ${after}`);
        if (!end.crashed) break;
        points += 1;
      }
      assert.ok(points >= clean.writes.length / stride / 2 && points < mostWrites, `${points} points were tried`);
    });

    for (const [how, ms] of Object.entries(absences))
      test(`ends the same when no operator lives for more than one write, and the next comes ${how}`, async () => {
        const end = await play(scenario, () => ({ t: "dies", after: 1 }), ms);
        same(end, "one write a life");
      });

    test("ends the same whichever of its writes the operator hears nothing about", async () => {
      for (let of = 1; of <= clean.writes.length; of += stride)
        same(await play(scenario, () => ({ t: "losesAnswer", of })), `no answer to write ${of}`);
    });
  });
}
