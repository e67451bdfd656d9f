// The deletion of an EtcdBackup whose policy is to delete its backups, too: what it does first, what holds it up, how it
// ends all the same. From end to end, in memory and in simulated time.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import type { FailureCode } from "../worker/job.ts";
import type { Fate, Fortune } from "./testing/fake-workers.ts";
import { key, Stage } from "./testing/stage.ts";

const minutes = 60_000;
const hours = 60 * minutes;

const fails = (code: FailureCode) => (): Fortune => ({
  t: "ends",
  result: { ok: false, code, message: "The store does not answer." },
});
const onDelete =
  (fortune: Fortune): Fate =>
  (job) =>
    job.do === "delete" ? fortune : undefined;
const reasons = (stage: Stage): string[] => stage.recorded.map(({ reason }) => reason);

describe("deletion", () => {
  const deletionPolicy = "Delete" as const;

  test("leaves the backups where they are", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create();
    await stage.untilPhase("Succeeded");
    await stage.api.delete(EtcdBackup, key);
    assert.ok(await stage.isGone());
    await stage.pass(1 * minutes);
    assert.equal(stage.workers.stored.size, 1);
    assert.equal(stage.workers.count("delete"), 0);
  });

  test("deletes the backups first when the policy says so", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ deletionPolicy });
    await stage.untilPhase("Succeeded");
    await stage.api.delete(EtcdBackup, key);
    await stage.untilPhase("Deleting");
    await stage.until("its end", () => stage.isGone());
    assert.equal(stage.workers.stored.size, 0);
    assert.equal(stage.workers.count("delete"), 1);
    assert.equal(reasons(stage).at(-1), "Backups Deleted");
    await stage.pass(10_000);
    assert.deepEqual(await stage.podNames(), []);
  });

  test("ends a run first, so that nothing is written behind it", async () => {
    await using stage = new Stage();
    stage.workers.fate = (job) => (job.do === "backup" ? { t: "runs" } : undefined);
    stage.startOperator();
    await stage.create({ deletionPolicy });
    await stage.until("a worker", () => stage.workers.running === 1);
    await stage.api.delete(EtcdBackup, key);
    await stage.until("its end", () => stage.isGone());
    assert.equal(stage.workers.most, 1);
    assert.equal(stage.workers.count("delete"), 1);
  });

  test("is tried again when it fails, which is told, until the policy lets go", async () => {
    await using stage = new Stage();
    stage.workers.fate = (job) => (job.do === "delete" ? fails("store")() : undefined);
    stage.startOperator();
    await stage.create({ deletionPolicy });
    await stage.untilPhase("Succeeded");
    await stage.api.delete(EtcdBackup, key);
    await stage.pass(20 * minutes);
    assert.ok(stage.workers.count("delete") > 5, String(stage.workers.count("delete")));
    assert.match(
      (await stage.status()).Reason ?? "",
      /could not be deleted: .*kubectl patch etcdbackup nightly -n default .*Retain/,
    );
    assert.ok((await stage.podNames()).length <= 2);
    await stage.edit({ deletionPolicy: "Retain" });
    await stage.until("its end", () => stage.isGone());
    assert.equal(stage.workers.stored.size, 1);
  });

  const deletedButHeldUp = async (stage: Stage): Promise<void> => {
    stage.startOperator();
    await stage.create({ deletionPolicy });
    await stage.untilPhase("Succeeded");
    await stage.api.delete(EtcdBackup, key);
    await stage.pass(2 * minutes);
    assert.ok(!(await stage.isGone()), "it is held up");
  };
  const leftBehind = (stage: Stage): string => {
    const [last] = stage.recorded.slice(-1);
    assert.equal(last?.reason, "Backups Left Behind");
    assert.equal(stage.workers.stored.size, 1);
    return last.note;
  };

  test("ends in a namespace that is being deleted, where no worker can run", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ deletionPolicy });
    await stage.untilPhase("Succeeded");
    await stage.deleteNamespace();
    await stage.until("its end", () => stage.isGone(), 5_000);
    assert.match(leftBehind(stage), / bucket\/etcd\/backup\..*namespace default is being deleted/);
  });

  const holdUps: readonly [what: string, holdUp: (stage: Stage) => void, says: RegExp][] = [
    [
      "a worker that waits for a Secret",
      (stage) => void (stage.workers.fate = onDelete({ t: "waits", reason: "ContainerCreating" })),
      /check that these exist: the Secret aws/,
    ],
    [
      "a worker that no node takes",
      (stage) => void (stage.workers.fate = onDelete({ t: "unscheduled" })),
      /No node takes the pod/,
    ],
    [
      "a worker that fails",
      (stage) => void (stage.workers.fate = onDelete(fails("store")())),
      /The backups could not be deleted/,
    ],
    [
      "a worker that is refused",
      (stage) => {
        stage.workers.fate = () => {
          stage.quota = "error looking up service account default/gone";
          return undefined;
        };
      },
      /The worker pod was refused/,
    ],
    [
      "an image that is not known",
      (stage) => {
        stage.workers.fate = () => {
          stage.image = undefined;
          return undefined;
        };
      },
      /does not know its own image/,
    ],
  ];

  for (const [what, holdUp, says] of holdUps) {
    test(`says the way out of ${what}`, async () => {
      await using stage = new Stage();
      holdUp(stage);
      await deletedButHeldUp(stage);
      const { message = "" } = (await stage.condition("Problem")) ?? {};
      assert.match(message, says);
      const [command = "", patch = ""] =
        /kubectl patch etcdbackup nightly -n default --type=merge -p '(.*?)'/.exec(message) ?? [];
      assert.notEqual(command, "", message);
      assert.match(message, /until 2026-01-01T01:00:\d\dZ/);
      await stage.api.mergePatch(EtcdBackup, key, JSON.parse(patch) as object);
      await stage.until("its end", () => stage.isGone(), 5_000);
      assert.equal(stage.workers.stored.size, 1);
    });

    test(`does not wait for ever for ${what}`, async () => {
      await using stage = new Stage();
      holdUp(stage);
      await deletedButHeldUp(stage);
      await stage.pass(50 * minutes);
      assert.ok(!(await stage.isGone()), "it was patient");
      await stage.until("its end", () => stage.isGone(), 20 * minutes);
      assert.match(leftBehind(stage), /bucket\/etcd\/backup/);
      assert.match(leftBehind(stage), says);
    });

    test(`is not held up by ${what} when the namespace goes, too`, async () => {
      await using stage = new Stage();
      holdUp(stage);
      await deletedButHeldUp(stage);
      await stage.deleteNamespace();
      await stage.until("its end", () => stage.isGone());
      leftBehind(stage);
    });
  }

  test("of a spec that cannot be used ends, too", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ deletionPolicy });
    await stage.untilPhase("Succeeded");
    await stage.edit({ s3: { path: "bucket/../etc" } });
    await stage.api.delete(EtcdBackup, key);
    await stage.pass(50 * minutes);
    assert.match((await stage.condition("Problem"))?.message ?? "", /kubectl patch etcdbackup nightly/);
    await stage.until("its end", () => stage.isGone(), 20 * minutes);
    leftBehind(stage);
  });

  test("lets a worker that is at it finish, however long it takes", async () => {
    await using stage = new Stage();
    let nth = 0;
    stage.workers.fate = (job) => {
      if (job.do !== "delete") return undefined;
      nth += 1;
      return nth === 1 ? fails("store")() : { t: "runs" };
    };
    await deletedButHeldUp(stage);
    await stage.pass(3 * hours);
    assert.ok(!(await stage.isGone()));
    assert.equal(stage.workers.running, 1);
  });

  test("goes on at once with another Secret that is named", async () => {
    await using stage = new Stage();
    stage.workers.fate = (job, count) =>
      job.do === "delete" && count === 0 ? { t: "waits", reason: "ContainerCreating" } : undefined;
    await deletedButHeldUp(stage);
    await stage.edit({ s3: { awsSecret: "another" } });
    await stage.until("its end", () => stage.isGone(), 1 * minutes);
    assert.equal(stage.workers.stored.size, 0);
  });

  test("of one that has never run waits for nothing", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ deletionPolicy, backupPolicy: { suspend: true } });
    await stage.untilPhase("Suspended");
    await stage.api.delete(EtcdBackup, key);
    await stage.until("its end", () => stage.isGone());
    assert.equal(stage.workers.jobs.length, 0);
  });

  test("is not held up by the finalizer of etcd-operator 0.9", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ backupPolicy: { backupIntervalInSecond: 125 } });
    const finalizers = ["backup-operator-periodic"];
    await stage.api.mergePatch(EtcdBackup, key, { metadata: { finalizers } });
    await stage.untilPhase("Scheduled");
    assert.deepEqual((await stage.backup()).metadata?.finalizers, finalizers);
    await stage.api.delete(EtcdBackup, key);
    await stage.until("its end", () => stage.isGone());
  });

  test("the finalizer comes and goes with the policy", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create();
    const finalizers = async () => (await stage.backup()).metadata?.finalizers ?? [];
    await stage.untilPhase("Succeeded");
    assert.deepEqual(await finalizers(), []);
    await stage.edit({ deletionPolicy });
    await stage.until("the finalizer", async () => (await finalizers()).length === 1);
    await stage.edit({ deletionPolicy: "Retain" });
    await stage.until("no finalizer", async () => (await finalizers()).length === 0);
    assert.equal(stage.workers.count("backup"), 1);
  });
});
