// Crashes: the operator dies after each of its writes in turn, or never hears what came of one, and whoever comes after it
// ends where an undisturbed one does, with as many runs and backups, and nothing twice.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { EtcdBackup, type EtcdBackupSpec } from "../api/etcd-backup/etcd-backup.ts";
import type { Fate as Life } from "../cluster/testing/life.ts";
import type { Fate } from "./testing/fake-workers.ts";
import { key, Stage } from "./testing/stage.ts";

interface Scenario {
  readonly name: string;
  readonly spec?: Partial<EtcdBackupSpec>;
  readonly fate?: Fate;
  /** What a person does once there is nothing left to do. */
  readonly afterwards?: (stage: Stage) => Promise<unknown>;
  readonly isOver: (stage: Stage) => boolean | Promise<boolean>;
}

const isPhase = (phase: string) => async (stage: Stage) => (await stage.status()).phase === phase;
const failsFirst: Fate = (_job, nth) =>
  nth === 0 ? { t: "ends", result: { ok: false, code: "store", message: "The store does not answer." } } : undefined;

const scenarios: readonly Scenario[] = [
  { name: "one backup", isOver: isPhase("Succeeded") },
  { name: "one backup, verified", spec: { verify: { restore: true } }, isOver: isPhase("Succeeded") },
  { name: "one backup that succeeds at its second attempt", fate: failsFirst, isOver: isPhase("Succeeded") },
  {
    name: "one backup that fails",
    fate: () => ({ t: "ends", result: { ok: false, code: "misconfigured", message: "No such bucket." } }),
    isOver: isPhase("Failed"),
  },
  {
    name: "three backups at an interval",
    spec: { backupPolicy: { backupIntervalInSecond: 120 } },
    isOver: async (stage) => (await stage.status()).history?.length === 3 && (await isPhase("Scheduled")(stage)),
  },
  {
    name: "two backups by a schedule",
    spec: { backupPolicy: { schedule: "*/5 * * * *", jitterInSecond: 20 } },
    isOver: async (stage) => (await stage.status()).history?.length === 2 && (await isPhase("Scheduled")(stage)),
  },
  {
    name: "a backup on request, after the first",
    afterwards: (stage) => stage.ask("now"),
    isOver: async (stage) => (await stage.status()).history?.length === 2 && (await isPhase("Succeeded")(stage)),
  },
  {
    name: "deletion with the backups",
    spec: { deletionPolicy: "Delete" },
    afterwards: (stage) => stage.api.delete(EtcdBackup, key),
    isOver: (stage) => stage.isGone(),
  },
  {
    name: "deletion with the namespace, which leaves the backups",
    spec: { deletionPolicy: "Delete" },
    afterwards: (stage) => stage.deleteNamespace(),
    isOver: (stage) => stage.isGone(),
  },
];

/** More than any of them takes. */
const mostWrites = 60;
const absences = { "after a while": 5_000, "at once": 0 } as const;

interface End {
  readonly crashed: boolean;
  readonly writes: readonly string[];
  readonly state: object;
}

async function play(scenario: Scenario, fateOf: (life: number) => Life, absenceMs: number = 5_000): Promise<End> {
  await using stage = new Stage();
  if (scenario.fate !== undefined) stage.workers.fate = scenario.fate;
  let lives = 1;
  stage.startOperator(fateOf(lives));
  await stage.create(scenario.spec);
  const until = async (isOver: () => boolean | Promise<boolean>): Promise<void> => {
    for (;;) {
      await stage.until("an end", async () => stage.life.isOver || (await isOver()), 3_600_000);
      if (!stage.life.isOver) return;
      assert.ok(lives < mostWrites, `${lives} lives were not enough: ${await stage.describe()}`);
      lives += 1;
      await stage.stopOperator();
      await stage.pass(absenceMs);
      stage.startOperator(fateOf(lives));
    }
  };
  if (scenario.afterwards !== undefined) {
    await until(isPhase("Succeeded").bind(undefined, stage));
    await scenario.afterwards(stage);
  }
  await until(() => scenario.isOver(stage));
  await stage.stopOperator();
  // Leftovers of a life that ended early are cleared by the next; after that there is nothing left to write.
  stage.startOperator();
  await stage.pass(5_000);
  const settled = stage.life.writes.length;
  await stage.pass(30_000);
  assert.equal(stage.life.writes.length, settled, await stage.describe());
  await stage.stopOperator();
  return { crashed: lives > 1, writes: [...stage.writes], state: await stateOf(stage) };
}

/** All that a person could tell one such backup from another by, but for names and times. */
async function stateOf(stage: Stage): Promise<object> {
  const { workers } = stage;
  const isGone = await stage.isGone();
  const status = isGone ? {} : await stage.status();
  const { phase, succeeded, Reason, failures, backups, run, history, conditions, handledRequest } = status;
  return {
    isGone,
    status: {
      phase,
      succeeded,
      Reason,
      failures,
      backups,
      run,
      handledRequest,
      history: history?.map(({ result, trigger, message }) => ({ result, trigger, message })),
      conditions: conditions?.map(({ type, status, reason }) => ({ type, status, reason })),
    },
    told: workers.jobs.map((job) => job.do),
    stored: workers.stored.size,
    sideBySide: workers.most,
    podsLeft: (await stage.podNames()).length,
  };
}

const lives: Life = { t: "lives" };

for (const scenario of scenarios) {
  describe(scenario.name, () => {
    let clean: End;
    before(async () => {
      clean = await play(scenario, () => lives);
    });

    test("ends the same whichever of its writes the operator dies after", async () => {
      let points = 0;
      for (let after = 1; after <= mostWrites; after += 1) {
        const end = await play(scenario, (life) => (life === 1 ? { t: "dies", after } : lives));
        assert.deepEqual(end.state, clean.state, `died after its write ${after}: ${end.writes.join(", ")}`);
        if (!end.crashed) break;
        points += 1;
      }
      assert.ok(points >= clean.writes.length / 2 && points < mostWrites, `${points} points were tried`);
    });

    for (const [how, ms] of Object.entries(absences))
      test(`ends the same when no operator lives for more than one write, and the next comes ${how}`, async () => {
        const end = await play(scenario, () => ({ t: "dies", after: 1 }), ms);
        assert.deepEqual(end.state, clean.state, end.writes.join(", "));
      });

    test("ends the same whichever of its writes the operator hears nothing about", async () => {
      for (let of = 1; of <= clean.writes.length; of += 1) {
        const end = await play(scenario, () => ({ t: "losesAnswer", of }));
        assert.deepEqual(end.state, clean.state, `no answer to write ${of}: ${end.writes.join(", ")}`);
      }
    });
  });
}
