// Old views: caches that lag, and a restarted operator whose first lists come from the past. Whatever they show, nothing
// is removed, deleted or begun because of it, and when they catch up the cluster is as it was asked for.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { PersistentVolumeClaim, Pod } from "../kube/objects/kinds.ts";
import { cachedLabels } from "./objects/labels.ts";
import { volumesOf } from "./testing/happenings.ts";
import { Stage } from "./testing/stage.ts";

const harmful = /^(remove member|delete |move leader)/;

/** Longer than the planner has patience with whatever it sees. */
const longMs = 90_000;
/** Longer than the runtime waits for a cache to show what it wrote itself: then it goes on with what it has. */
const deafMs = 120_000;
/** Those of the operator's caches. What it reads live is the present, and so is what the test itself reads. */
const listsOf = (kind: Viewed) =>
  ({
    verb: "list",
    kind,
    namespace: "default",
    labelSelector: kind.kind === EtcdCluster.kind ? "" : cachedLabels,
  }) as const;
const watchesOf = (kind: Viewed) => ({ verb: "watch", kind }) as const;

type Viewed = typeof Pod | typeof EtcdCluster | typeof PersistentVolumeClaim;

interface History {
  /** The operator runs already, or not. */
  readonly begin: (stage: Stage) => Promise<void>;
  /** From here on lists show what was there between the two; the running operator hears the news by its watches. */
  readonly change: (stage: Stage) => Promise<void>;
  readonly size: number;
  readonly old: readonly Viewed[];
}

async function resized(stage: Stage, size: number): Promise<void> {
  await stage.resize(size);
  await stage.untilSettled(size);
}

interface Seen {
  /** What it changed while it saw the past. */
  readonly writes: readonly string[];
  /** How often it asked the API server for anything meanwhile. */
  readonly asked: number;
  /** The members before and after all of it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Starts an operator that sees the past of such a history, then shows it the present. */
async function playOldView(history: History): Promise<Seen> {
  const stage = new Stage();
  stage.startOperator();
  await history.begin(stage);
  const ends = history.old.map((kind) => stage.api.faults.showThePast(listsOf(kind)));
  await history.change(stage);
  await stage.stopOperator();
  const memberIds = (): string[] => stage.kubelet.etcd?.members.map(({ id }) => id).toSorted() ?? [];
  const before = memberIds();

  ends.push(...history.old.map((kind) => stage.api.faults.holdWatches(watchesOf(kind))));
  const life = stage.startOperator();
  stage.api.forgetRequests();
  await stage.pass(longMs);
  const writes = [...life.writes];
  const asked = stage.api.requests.length;
  for (const end of ends) end();
  await stage.untilWhole(history.size);
  await stage.stopOperator();
  return { writes, asked, before, after: memberIds() };
}

describe("an operator that starts with a view of the past", () => {
  const grown = {
    begin: (stage: Stage) => stage.createWhole(3),
    change: (stage: Stage) => resized(stage, 5),
    size: 5,
  };
  for (const { what, old } of [
    { what: "in which the cluster was smaller", old: [EtcdCluster, Pod] },
    { what: "in which only the wish was smaller", old: [EtcdCluster] },
    { what: "in which some of the pods were not there", old: [Pod] },
  ])
    test(`${what} takes nobody out`, async () => {
      const { writes, before, after } = await playOldView({ ...grown, old });
      assert.deepEqual(
        writes.filter((write) => harmful.test(write)),
        [],
      );
      assert.deepEqual(after, before);
    });

  test("in which the cluster had no member yet begins no second one", async () => {
    const { writes, before, after } = await playOldView({
      begin: (stage) => stage.create(3),
      async change(stage) {
        await stage.untilSettled(3);
        // The seed leads; with its pod goes the name that a second one could not have had.
        await stage.deletePod("leader");
        await stage.untilWhole(3);
      },
      size: 3,
      old: [EtcdCluster, Pod],
    });
    assert.deepEqual(
      writes.filter((write) => harmful.test(write) || write.startsWith("create Pod")),
      [],
    );
    assert.deepEqual(after, before);
  });

  const shrunk: History = {
    begin: (stage) => stage.createWhole(5),
    change: (stage) => resized(stage, 3),
    size: 3,
    old: [EtcdCluster, Pod],
  };

  test("in which the cluster was larger keeps every member that it has", async () => {
    const { writes, before, after } = await playOldView(shrunk);
    assert.deepEqual(
      writes.filter((write) => write.startsWith("remove member")),
      [],
    );
    assert.deepEqual(after, before);
  });

  test("in which pods were there that are gone does not ask for their end a hundred times a second", async () => {
    const { asked } = await playOldView(shrunk);
    assert.ok(asked < (longMs / 1000) * 4, `it asked ${asked} times in ${longMs / 1000} s`);
  });

  test("in which another cluster had the name does nothing to the one that has it now", async () => {
    const { writes, before, after } = await playOldView({
      begin: (stage) => stage.createWhole(3),
      async change(stage) {
        await stage.stopOperator();
        await stage.deleteCluster();
        stage.startOperator();
        await stage.createWhole(3);
      },
      size: 3,
      old: [EtcdCluster, Pod],
    });
    assert.deepEqual(writes, []);
    assert.deepEqual(after, before);
  });
});

describe("an operator that starts after a restore with a view from before its end", () => {
  const views: readonly (readonly Viewed[])[] = [
    [EtcdCluster],
    [PersistentVolumeClaim],
    [Pod],
    [EtcdCluster, PersistentVolumeClaim],
    [EtcdCluster, Pod],
    [PersistentVolumeClaim, Pod],
    [EtcdCluster, PersistentVolumeClaim, Pod],
  ];
  const untilPhase = (stage: Stage, phase: string) =>
    stage.until(phase, async () => (await stage.cluster()).status?.restore?.phase === phase);
  const moments: Record<string, (stage: Stage) => Promise<void>> = {
    "before it was asked for": () => Promise.resolve(),
    async "when the old members were stopped"(stage) {
      await stage.restore();
      await untilPhase(stage, "Stopping");
    },
    async "when the first member was made"(stage) {
      await stage.restore();
      await untilPhase(stage, "Seeding");
    },
  };
  const kinds = { "with volumes": { pod: volumesOf("1Gi") }, "without volumes": {} };
  for (const [moment, begin] of Object.entries(moments))
    for (const [which, spec] of Object.entries(kinds))
      for (const old of views)
        test(`${moment}, ${which}, of ${old.map(({ kind }) => kind).join(", ")}, touches nothing`, async () => {
          const { writes, before, after } = await playOldView({
            async begin(stage) {
              await stage.createWhole(3, "3.6.16", spec);
              await begin(stage);
            },
            async change(stage) {
              if ((await stage.cluster()).status?.restore === undefined) await stage.restore();
              await stage.untilSettled(3);
            },
            size: 3,
            old,
          });
          const isHarm = (write: string): boolean =>
            harmful.test(write) || /^(create Pod|(create|patch) PersistentVolumeClaim)/.test(write);
          assert.deepEqual(writes.filter(isHarm), []);
          assert.deepEqual(after, before);
        });
});

describe("an operator whose caches stop to hear of pods", () => {
  const scenarios = [
    { name: "a creation", from: 0, most: 3, happens: (stage: Stage) => stage.create(3) },
    { name: "a repair", from: 3, most: 3, happens: (stage: Stage) => stage.deletePod("follower") },
  ];
  for (const { name, from, most, happens } of scenarios)
    test(`in the middle of ${name}, at whichever moment, makes no member too many`, async () => {
      for (let at = 0; at <= 8_000; at += 500) {
        const stage = new Stage();
        stage.startOperator();
        if (from > 0) await stage.createWhole(from);
        await happens(stage);
        await stage.pass(at);
        const end = stage.api.faults.holdWatches(watchesOf(Pod));
        await stage.pass(deafMs);
        end();
        await stage.untilWhole(3);
        assert.ok(stage.watch.mostMembers <= most, `${stage.watch.mostMembers} members, held at ${at} ms`);
        await stage.stopOperator();
      }
    });
});
