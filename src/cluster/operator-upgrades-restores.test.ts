// The operator is upgraded and rolled back while backups are taken and while a restore replaces the data of a cluster.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import { firstMembersGate } from "./objects/first-members.ts";
import { earlierBuild } from "./testing/earlier/load.ts";
import { type Build, presentBuild } from "./testing/operator.ts";
import { backUp, isBackedUp, isOver, restoreInPlace } from "./testing/people.ts";
import { key, Stage } from "./testing/stage.ts";

const earlier = earlierBuild();
const isMatrix = process.env["MATRIX"] === "all";

const kinds = {
  "in pods": {},
  "in volumes": {
    pod: { persistentVolumeClaimSpec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
  },
};

const restoreIn = (stage: Stage): Promise<EtcdRestore> => stage.api.get(EtcdRestore, key);
const isRestored = async (stage: Stage): Promise<boolean> => isOver(await restoreIn(stage));

async function backedUpBy(build: Build, spec: object): Promise<Stage> {
  const stage = new Stage({ controllers: "all" });
  stage.startOperator({ t: "lives" }, 0, build);
  await stage.createWhole(3, "3.6.16", spec);
  assert.ok(await stage.write());
  await backUp(stage);
  await stage.until("it is backed up", () => isBackedUp(stage));
  await stage.stopOperator();
  return stage;
}

/** The first process ends after its write of this number; undefined: it had finished before. */
async function restoringBy(build: Build, spec: object, after: number): Promise<Stage | undefined> {
  const stage = await backedUpBy(build, spec);
  const life = stage.startOperator({ t: "dies", after }, 0, build);
  await restoreInPlace(stage);
  await stage.until("it is over", async () => life.isOver || isRestored(stage), 900_000);
  const { isOver: isHalfWay } = life;
  await stage.stopOperator();
  if (isHalfWay) return stage;
  await stage[Symbol.asyncDispose]();
  return undefined;
}

async function assertRestored(stage: Stage): Promise<void> {
  await stage.until("it is over", () => isRestored(stage), 900_000);
  const { status } = await restoreIn(stage);
  assert.equal(status?.phase, "Succeeded", JSON.stringify(status));
  await stage.untilWhole(3);
  assert.ok(await stage.write());
}

/** Each write of the first process in its turn, or every ninth. */
async function atEachWrite(build: Build, spec: object, then: (stage: Stage) => Promise<void>): Promise<void> {
  let after = 1;
  for (;;) {
    await using stage = await restoringBy(build, spec, after);
    if (stage === undefined) break;
    await then(stage);
    after += isMatrix ? 1 : 9;
  }
  assert.ok(after > 9, "nothing was half way");
}

for (const [what, spec] of Object.entries(kinds))
  describe(`a restore in place, ${what}`, () => {
    test("that an earlier operator has begun is finished by this one", () =>
      atEachWrite(earlier, spec, async (stage) => {
        stage.startOperator();
        await assertRestored(stage);
      }));

    test("that this operator has begun is finished after a rollback, or waits for the next upgrade", () =>
      atEachWrite(presentBuild, spec, async (stage) => {
        stage.startOperator({ t: "lives" }, 0, earlier);
        await stage.pass(120_000);
        if (!(await isRestored(stage))) await assertHeldBack(stage);
        await assertRestored(stage);
      }));

    test("is not repeated by whoever comes after it", async () => {
      for (const [first, second] of [
        [earlier, presentBuild],
        [presentBuild, earlier],
      ] as const) {
        await using stage = await backedUpBy(first, spec);
        stage.startOperator({ t: "lives" }, 0, first);
        await restoreInPlace(stage);
        await assertRestored(stage);
        await stage.pass(60_000);
        await stage.stopOperator();
        const before = await stage.podNames();
        stage.startOperator({ t: "lives" }, 0, second);
        await stage.pass(300_000);
        assert.deepEqual(await stage.podNames(), before);
      }
    });
  });

describe("a series of backups", () => {
  for (const [how, first, second] of [
    ["an upgrade", earlier, presentBuild],
    ["a rollback", presentBuild, earlier],
  ] as const)
    test(`goes on after ${how}, without a run more or fewer`, async () => {
      await using stage = new Stage({ controllers: "all" });
      stage.startOperator({ t: "lives" }, 0, first);
      await stage.createWhole(3);
      const series = { ...key, name: "series" };
      await stage.api.create(EtcdBackup, {
        metadata: series,
        spec: {
          clusterRef: { name: key.name },
          storageType: "S3",
          s3: { path: "bucket/series", awsSecret: "aws" },
          backupPolicy: { backupIntervalInSecond: 60, maxBackups: 3 },
        },
      });
      const runs = (): number => stage.kubelet.workers.done.filter((job) => job.do === "backup").length;
      await stage.until("three runs", () => runs() === 3, 600_000);
      await stage.stopOperator();
      const events = stage.recorded.length;
      stage.startOperator({ t: "lives" }, 0, second);
      await stage.pass(300_000);
      assert.ok(Math.abs(runs() - 8) <= 1, `${runs()} runs in eight minutes`);
      const { status } = await stage.api.get(EtcdBackup, series);
      assert.ok(status?.succeeded, JSON.stringify(status));
      assert.deepEqual(
        stage.recorded.slice(events).filter(({ type }) => type === "Warning"),
        [],
      );
    });
});

/**
 * Pods of first members that nobody has let go: the earlier operator makes one member after another and knows no such gate.
 * The next upgrade takes the restore up again.
 */
async function assertHeldBack(stage: Stage): Promise<void> {
  const gates = (await stage.pods()).flatMap(({ spec }) => spec?.schedulingGates?.map(({ name }) => name) ?? []);
  assert.deepEqual(gates, [firstMembersGate, firstMembersGate, firstMembersGate]);
  await stage.stopOperator();
  stage.startOperator();
}
