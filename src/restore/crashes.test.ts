// Crashes: the operator dies after each of its writes in turn, or never hears what came of one, and whoever comes after it
// ends where an undisturbed one does: the same workers, and the data of the cluster replaced once.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { EtcdRestoreStatus } from "../api/etcd-restore/etcd-restore.ts";
import type { Fate } from "../cluster/testing/life.ts";
import { failure } from "./testing/samples.ts";
import { answers, Stage } from "./testing/stage.ts";

interface Scenario {
  readonly name: string;
  readonly happens: (stage: Stage) => Promise<void>;
  readonly ends: "Succeeded" | "Failed";
}

async function inPlace(stage: Stage, ...volumes: readonly string[]): Promise<void> {
  await stage.make("cluster");
  await stage.makeVolumes(...volumes);
  await stage.make("restore");
}

const scenarios: readonly Scenario[] = [
  { name: "a cluster without volumes is replaced", ends: "Succeeded", happens: (stage) => inPlace(stage) },
  {
    name: "a cluster with volumes is replaced",
    ends: "Succeeded",
    happens: (stage) => inPlace(stage, "demo-a", "demo-b", "demo-c"),
  },
  {
    name: "a cluster of which some members have volumes is replaced",
    ends: "Succeeded",
    happens: (stage) => inPlace(stage, "demo-b"),
  },
  {
    name: "a new cluster is made from an EtcdBackup",
    ends: "Succeeded",
    async happens(stage) {
      await stage.make("backup");
      await stage.make("restore", { backup: { name: "nightly" }, clusterSpec: { size: 3, version: "3.6.16" } });
    },
  },
  {
    name: "a check and a snapshot that succeed at the second attempt",
    ends: "Succeeded",
    async happens(stage) {
      stage.answer = (job, pod) => {
        const isFirst = /-(check|save)-1-/.test(pod.metadata?.name ?? "");
        return isFirst ? failure("store") : answers(job, pod);
      };
      await inPlace(stage);
    },
  },
  {
    name: "a damaged backup",
    ends: "Failed",
    async happens(stage) {
      stage.answer = () => failure("damaged");
      await inPlace(stage);
    },
  },
];

/** Longer than anything goes unlooked at. */
const quietMs = 15_000;
/** More than any of them takes. */
const mostWrites = 40;
const absences = { "after a while": 5_000, "at once": 0 } as const;

interface End {
  readonly crashed: boolean;
  readonly writes: number;
  readonly state: object;
}

/** Each of the lives is as its fate says. */
async function play({ happens, ends }: Scenario, fateOf: (life: number) => Fate, absenceMs: number): Promise<End> {
  await using stage = new Stage();
  let lives = 1;
  stage.startOperator(fateOf(lives));
  await happens(stage);
  const isOver = async (): Promise<boolean> => (await stage.status()).phase === ends;
  for (;;) {
    await stage.until("an end", async () => stage.isOperatorOver || (await isOver()));
    if (!stage.isOperatorOver) break;
    assert.ok(lives < mostWrites, `${lives} lives were not enough: ${JSON.stringify(await stage.status())}`);
    lives += 1;
    await stage.stopOperator();
    await stage.pass(absenceMs);
    stage.startOperator(fateOf(lives));
  }
  await stage.stopOperator();
  // What is left to tidy up is done by the next one; then there is nothing left to write.
  stage.startOperator();
  await stage.pass(2_000);
  await stage.stopOperator();
  const last = stage.startOperator();
  await stage.pass(quietMs);
  assert.deepEqual(last.writes, []);
  await stage.stopOperator();
  return { crashed: lives > 1, writes: stage.writes.length, state: await endOf(stage) };
}

/**
 * What the cluster holds is saved while the backup is checked, or after it where the operator died in between; and nobody
 * waits for it where the check fails.
 */
function jobsThatCount({ jobs }: Stage, { snapshotPath }: EtcdRestoreStatus): readonly string[] {
  const all = jobs.map((job) => job.do);
  return (snapshotPath === undefined ? all.filter((what) => what !== "backup") : all).toSorted();
}

/** Without times and uids, which differ. */
async function endOf(stage: Stage): Promise<object> {
  const { metadata, status = {} } = await stage.restore();
  const text = JSON.stringify({
    status: { ...status, startedAt: "", checkedAt: "", completedAt: "", conditions: status.conditions?.length },
    cluster: (await stage.cluster()).status,
    annotations: (await stage.cluster()).metadata?.annotations ?? {},
    clusterUid: "",
    workers: await stage.workers(),
    jobs: jobsThatCount(stage, status),
    seedings: stage.seedings,
  });
  const uid = metadata?.uid ?? "";
  // Four letters alone may be a year.
  const known = [uid, uid.slice(0, 8), `made-by-${uid.slice(0, 4)}`, (await stage.cluster()).metadata?.uid ?? ""];
  return JSON.parse(known.reduce((all, one) => all.replaceAll(one, "UID"), text));
}

const lives: Fate = { t: "lives" };

for (const scenario of scenarios) {
  describe(scenario.name, () => {
    let clean: End;
    before(async () => {
      clean = await play(scenario, () => lives, 0);
    });

    test("ends the same whichever of its writes the operator dies after", async () => {
      const { state, writes } = clean;
      let points = 0;
      for (let after = 1; after <= mostWrites; after += 1) {
        const end = await play(scenario, (life) => (life === 1 ? { t: "dies", after } : lives), 1_000);
        assert.deepEqual(end.state, state, `died after its write ${after}`);
        if (!end.crashed) break;
        points += 1;
      }
      assert.ok(points >= writes / 2 && points < mostWrites, `${points} points were tried, of ${writes}`);
    });

    for (const [how, ms] of Object.entries(absences))
      test(`ends the same when no operator lives for more than one write, and the next comes ${how}`, async () => {
        const { state } = clean;
        const end = await play(scenario, () => ({ t: "dies", after: 1 }), ms);
        assert.deepEqual(end.state, state);
      });

    test("ends the same whichever of its writes the operator hears nothing about", async () => {
      const { state, writes } = clean;
      for (let of = 1; of <= writes; of += 1)
        assert.deepEqual((await play(scenario, () => ({ t: "losesAnswer", of }), 0)).state, state, `write ${of}`);
    });
  });
}
