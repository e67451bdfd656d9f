// The restore controller against simulated workers and a simulated cluster controller: what it does, what it refuses, and
// what it says.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { restoreAnnotation } from "../api/etcd-cluster/restore-annotation.ts";
import { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import { Pod } from "../kube/objects/kinds.ts";
import type { BackupJob, CheckJob, Result } from "../worker/job.ts";
import { facts, failure, namespace } from "./testing/samples.ts";
import { answers, Stage } from "./testing/stage.ts";

const key = { namespace, name: "demo" };
const onVolumes = { pod: { persistentVolumeClaimSpec: {} } };

test("the data of a cluster is saved, replaced, and the restore succeeds when the cluster is ready", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  const status = await stage.untilOver();
  const uid = (await stage.restore()).metadata?.uid ?? "";
  assert.deepEqual(
    { ...status, conditions: undefined, startedAt: undefined, checkedAt: undefined, completedAt: undefined },
    {
      phase: "Succeeded",
      succeeded: true,
      message: "The EtcdCluster demo is ready with the data of bucket/etcd/backup.",
      observedGeneration: 1,
      attempt: 1,
      inPlace: true,
      clusterUid: (await stage.cluster()).metadata?.uid,
      clusterPhase: "Done",
      revisionBump: 1_000_000_000,
      key: "etcd/backup",
      keys: 12,
      backup: {
        path: "bucket/etcd/backup",
        takenAt: "2026-01-01T00:00:00Z",
        sizeBytes: 4096,
        revision: 42,
        hash: 7,
        sha256: "5ha",
        etcdVersion: "3.6.16",
        clusterID: "old",
        storageVersion: "3.6",
      },
      snapshotRevision: 42,
      snapshotPath: `bucket/etcd/backup.before-demo-${uid.slice(0, 8)}`,
      seed: { member: `demo-seed-${uid.slice(0, 8)}`, revision: 42, hash: 7 },
      clusterId: `made-by-${uid.slice(0, 4)}`,
      conditions: undefined,
      startedAt: undefined,
      checkedAt: undefined,
      completedAt: undefined,
    },
  );
  const [complete] = status.conditions ?? [];
  assert.deepEqual([complete?.type, complete?.status, complete?.reason], ["Complete", "True", "Succeeded"]);
  assert.deepEqual(
    stage.recorded.map(({ reason }) => reason),
    ["Data Saved", "Restore Begun", "Restore Succeeded"],
  );
  assert.deepEqual(stage.seedings, [uid]);
  assert.deepEqual(await stage.workers(), []);
  assert.match(stage.metrics(), /^etcd_operator_restores\{result="succeeded"\} 1$/m);
  assert.match(stage.metrics(), /^etcd_operator_restore_duration_seconds_count 1$/m);
});

test("workers are told where the backup is and how the cluster is reached, and hold no more than they need", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.make("cluster", { auth: { operatorSecret: "root-login" } });
  await stage.make("restore", { encryption: { secret: "keys" }, timeoutInSecond: 90 });
  await stage.untilOver();
  const [check, save] = stage.jobs;
  const uid = (await stage.restore()).metadata?.uid ?? "";
  const store = {
    type: "S3",
    bucket: "bucket",
    forcePathStyle: false,
    secretFolder: "/etc/etcd-worker/store",
  } as const;
  assert.deepEqual(check, {
    do: "check",
    store,
    choice: { t: "key", key: "etcd/backup" },
    encryption: { folder: "/etc/etcd-worker/encryption" },
    targetVersion: "3.6.16",
    stalledAfterSeconds: 90,
  } satisfies CheckJob);
  assert.deepEqual(save, {
    do: "backup",
    owner: { namespace, name: "demo" },
    run: `restore-${uid}`,
    source: {
      endpoints: ["http://demo-a.demo.n.svc:2379"],
      loginFolder: "/etc/etcd-worker/login",
      loginOverHttp: true,
    },
    store,
    key: { t: "once", path: `etcd/backup.before-demo-${uid.slice(0, 8)}` },
    startedAt: (await stage.status()).startedAt ?? "",
    encryption: { folder: "/etc/etcd-worker/encryption" },
    cluster: { namespace, name: "demo", uid: (await stage.cluster()).metadata?.uid ?? "" },
    stalledAfterSeconds: 90,
  } satisfies BackupJob);
});

test("a cluster with volumes is not saved: its claims are named, and kept", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.make("cluster", onVolumes);
  await stage.makeVolumes("demo-a", "demo-b", "demo-c");
  await stage.make("restore");
  const status = await stage.untilOver();
  assert.deepEqual(
    [status.phase, status.keptVolumes, status.snapshotPath],
    ["Succeeded", "demo-a, demo-b, demo-c", undefined],
  );
  assert.deepEqual(
    stage.jobs.map((job) => job.do),
    ["check", "restore"],
  );
});

test("a new cluster is made from the newest backup of an EtcdBackup, asked for in the same request", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.make("backup", { worker: { serviceAccountName: "reader" } });
  await stage.make(
    "restore",
    {
      backup: { name: "nightly" },
      etcdCluster: { name: "copy" },
      clusterSpec: { size: 1, version: "v3.6.16" },
      before: "2026-01-15T00:00:00+01:00",
    },
    "to-copy",
  );
  const status = await stage.untilOver("to-copy");
  assert.deepEqual([status.phase, status.inPlace, status.revisionBump], ["Succeeded", false, 0]);
  const [check] = stage.jobs;
  assert.ok(check?.do === "check");
  assert.deepEqual(check.choice, {
    t: "newest",
    path: "etcd/backup",
    owner: { namespace: "n", name: "nightly" },
    before: "2026-01-14T23:00:00.000Z",
  });
  assert.equal(check.targetVersion, "3.6.16");
  const cluster = await stage.cluster("copy");
  assert.deepEqual(cluster.spec, { size: 1, version: "v3.6.16" });
  assert.equal(cluster.metadata?.ownerReferences, undefined, "the cluster outlives the EtcdRestore");
  const made = stage.api.writes.find(({ verb, kind }) => verb === "create" && kind === EtcdCluster.kind);
  assert.match(made?.object?.metadata?.annotations?.[restoreAnnotation] ?? "", /^to-copy\//);
});

test("an EtcdBackup that is made later is waited for", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore", { backup: { name: "nightly" } });
  await stage.pass(5_000);
  assert.match((await stage.status()).message ?? "", /^The EtcdBackup nightly does not exist: create it/);
  assert.deepEqual(stage.jobs, []);
  await stage.make("backup");
  assert.equal((await stage.untilOver()).phase, "Succeeded");
});

test("a check whose pod is deleted is tried again, and succeeds", async () => {
  await using stage = new Stage();
  let deleted = 0;
  stage.answer = (job, pod) => {
    if (job.do !== "check" || deleted > 0) return answers(job, pod);
    return undefined;
  };
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  await stage.until("a worker", async () => (await stage.status()).pod !== undefined);
  const [name = ""] = await stage.workers();
  deleted += 1;
  await stage.api.delete(Pod, { namespace, name });
  await stage.until("the second attempt", async () => (await stage.status()).attempt === 2);
  assert.equal((await stage.untilOver()).phase, "Succeeded");
});

test("a paused cluster is waited for", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.make("cluster", { paused: true });
  await stage.make("restore");
  await stage.pass(30_000);
  assert.deepEqual(
    [(await stage.status()).phase, (await stage.status()).message],
    ["Checking", "The EtcdCluster demo is paused: the restore waits until spec.paused is false."],
  );
  assert.deepEqual(stage.jobs, []);
  await stage.api.mergePatch(EtcdCluster, key, { spec: { paused: false } });
  assert.equal((await stage.untilOver()).phase, "Succeeded");
});

test("a cluster that another EtcdRestore is at is waited for, until that one is over or gone", async () => {
  for (const end of ["over", "gone"] as const) {
    await using stage = new Stage();
    let hangs = true;
    stage.answer = (job, pod) => (job.do === "restore" && hangs ? undefined : answers(job, pod));
    stage.startOperator();
    await stage.make("restore", { etcdCluster: { name: "copy" }, clusterSpec: { size: 1 } }, "first");
    await stage.until("the seed", async () => (await stage.status("first")).clusterPhase === "Seeding", 60, "first");
    await stage.make("restore", { etcdCluster: { name: "copy" } }, "copy");
    await stage.pass(30_000);
    assert.match(
      (await stage.status("copy")).message ?? "",
      /^The EtcdRestore first is replacing the data of the EtcdCluster copy/,
    );
    assert.equal(stage.seedings.length, 1);
    if (end === "gone") await stage.api.delete(EtcdRestore, { namespace, name: "first" });
    hangs = false;
    assert.equal((await stage.untilOver("copy")).phase, "Succeeded", end);
    assert.equal(stage.seedings.length, 2);
    if (end === "over") assert.equal((await stage.status("first")).phase, "Succeeded");
  }
});

test("what cannot be saved because the store refuses it ends the restore, and the sentence names the way around", async () => {
  await using stage = new Stage();
  stage.answer = (job, pod) => (job.do === "backup" ? failure("store", "The bucket is read-only.") : answers(job, pod));
  await stage.make("cluster");
  await stage.make("restore");
  const before = await stage.cluster();
  stage.startOperator();
  const status = await stage.untilOver();
  assert.match(
    status.reason ?? "",
    /^What the cluster holds could not be saved: The bucket is read-only\. The cluster was not touched\. .*spec\.safetySnapshot: Skip/,
  );
  assert.deepEqual(await stage.cluster(), before);
});

describe("a restore that has waited since its backup was proved has it proved again, by another worker,", () => {
  const table = [
    // What was saved while the backup was checked for the first time is too old by then.
    ["right after what is replaced was saved", [], 2, ["check", "backup", "backup", "check", "restore"]],
    ["where nothing has to be saved", ["demo-a", "demo-b", "demo-c"], 1, ["check", "check", "restore"]],
  ] as const;
  for (const [when, volumes, before, jobs] of table)
    test(when, async () => {
      await using stage = new Stage();
      stage.startOperator();
      await stage.make("cluster");
      await stage.makeVolumes(...volumes);
      await stage.make("restore");
      await stage.until("a worker", async () => (await stage.workers()).length > 0);
      await stage.api.mergePatch(EtcdCluster, key, { spec: { paused: true } });
      await stage.until("a proof", async () => (await stage.status()).key !== undefined);
      await stage.pass(120_000);
      assert.equal(stage.jobs.length, before);
      await stage.api.mergePatch(EtcdCluster, key, { spec: { paused: false } });
      assert.equal((await stage.untilOver()).phase, "Succeeded");
      assert.deepEqual(
        stage.jobs.map((job) => job.do),
        jobs,
      );
    });
});

/** Workers of a database that takes its time to be checked: a pod of a run whose backup is there finds that one. */
function slowWorkers(stage: Stage, checkMs: number, isHeld = (): boolean => false): { saves: () => readonly string[] } {
  const began = new Map<string, number>();
  const byRun = new Map<string, string>();
  stage.answer = (job, pod) => {
    const { name = "" } = pod.metadata ?? {};
    const since = began.get(name) ?? stage.now();
    began.set(name, since);
    if (job.do === "check") return stage.now() - since < checkMs ? undefined : answers(job, pod);
    const result = job.do === "backup" && isHeld() ? undefined : answers(job, pod);
    if (job.do !== "backup" || result?.ok !== true || result.did.do !== "backup") return result;
    const snapshotAt = byRun.get(job.run) ?? new Date(stage.now()).toISOString();
    byRun.set(job.run, snapshotAt);
    return { ok: true, did: { ...result.did, backup: { ...result.did.backup, snapshotAt } } };
  };
  return { saves: () => [...byRun.values()] };
}

test("what was saved long before the check ended is saved again, though its run has made a backup already", async () => {
  await using stage = new Stage();
  const { saves } = slowWorkers(stage, 120_000);
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  assert.equal((await stage.untilOver()).phase, "Succeeded");
  const { checkedAt = "" } = await stage.status();
  assert.equal(saves().length, 2);
  assert.ok(Date.parse(saves()[1] ?? "") >= Date.parse(checkedAt), `${saves().join(", ")}; checked at ${checkedAt}`);
});

test("what was saved before the restore was held up is saved again when it goes on: clients have written since", async () => {
  for (const checkMs of [0, 120_000]) {
    await using stage = new Stage();
    let isHeld = true;
    const { saves } = slowWorkers(stage, checkMs, () => isHeld);
    stage.startOperator();
    await stage.make("cluster");
    await stage.make("restore");
    await stage.until("saving", async () => (await stage.status()).phase === "Saving");
    isHeld = false;
    await stage.api.mergePatch(EtcdCluster, key, { spec: { paused: true } });
    await stage.until("waiting", async () => /is paused/.test((await stage.status()).message ?? ""));
    await stage.pass(300_000);
    const wentOn = stage.now();
    await stage.api.mergePatch(EtcdCluster, key, { spec: { paused: false } });
    assert.equal((await stage.untilOver()).phase, "Succeeded");
    const last = saves().at(-1) ?? "";
    assert.ok(
      Date.parse(last) >= wentOn,
      `saved at ${saves().join(", ")}; went on at ${new Date(wentOn).toISOString()}`,
    );
  }
});

test("with safetySnapshot Skip nothing is saved", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore", { safetySnapshot: "Skip" });
  assert.equal((await stage.untilOver()).phase, "Succeeded");
  assert.deepEqual(
    stage.jobs.map((job) => job.do),
    ["check", "restore"],
  );
});

test("a cluster that does not answer is replaced all the same, and that is said", async () => {
  for (const how of ["no member is ready", "etcd does not answer the worker"] as const) {
    await using stage = new Stage();
    stage.answer = (job, pod) => (job.do === "backup" ? failure("etcd", "etcd does not answer.") : answers(job, pod));
    await stage.make("cluster");
    const members = how === "no member is ready" ? { ready: [], unready: [] } : { ready: ["demo-a"], unready: [] };
    const conditions = [{ type: "Available", status: "False" }];
    await stage.api.mergePatch(EtcdCluster, key, { status: { members, conditions } }, { subresource: "status" });
    await stage.make("restore");
    stage.startOperator();
    assert.equal((await stage.untilOver()).phase, "Succeeded");
    assert.deepEqual(
      stage.recorded.map(({ reason }) => reason),
      ["Data Not Saved", "Restore Begun", "Restore Succeeded"],
      how,
    );
  }
});

test("a cluster that serves is not replaced before its data is safe, even if etcd does not answer the worker", async () => {
  await using stage = new Stage();
  stage.answer = (job, pod) => (job.do === "backup" ? failure("etcd", "etcd refuses the login.") : answers(job, pod));
  await stage.make("cluster");
  await stage.make("restore");
  stage.startOperator();
  const status = await stage.untilOver();
  assert.deepEqual([status.phase, stage.seedings.length], ["Failed", 0]);
  assert.match(status.reason ?? "", /etcd refuses the login\..*safetySnapshot: Skip/);
});

test("a cluster that is deleted, or created again, after the restore has begun is not touched", async () => {
  for (const what of ["deleted", "created again"] as const) {
    await using stage = new Stage();
    let hangs = true;
    stage.answer = (job, pod) => (hangs ? undefined : answers(job, pod));
    stage.startOperator();
    await stage.make("cluster");
    await stage.make("restore");
    await stage.until("a worker", async () => (await stage.workers()).length > 0);
    await stage.stopOperator();
    await stage.api.delete(EtcdCluster, key);
    if (what === "created again") await stage.make("cluster");
    stage.startOperator();
    hangs = false;
    const status = await stage.untilOver();
    assert.deepEqual([status.phase, stage.seedings.length], ["Failed", 0]);
    assert.match(
      status.reason ?? "",
      new RegExp(`^The EtcdCluster demo was deleted${what === "deleted" ? "" : " and created again"} after`),
    );
  }
});

test("a cluster that somebody makes while a new one is being prepared is not touched", async () => {
  await using stage = new Stage();
  let hangs = true;
  stage.answer = (job, pod) => (hangs ? undefined : answers(job, pod));
  stage.startOperator();
  await stage.make("restore", { clusterSpec: { size: 1 } });
  await stage.until("a worker", async () => (await stage.workers()).length > 0);
  await stage.make("cluster");
  hangs = false;
  const status = await stage.untilOver();
  assert.match(
    status.reason ?? "",
    /^An EtcdCluster demo was created by somebody else after the restore began\. Nothing was touched/,
  );
  assert.equal((await stage.cluster()).metadata?.annotations, undefined);
});

test("a request goes from the cluster once it is taken up, and what others wrote there stays", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.make("cluster");
  await stage.api.mergePatch(EtcdCluster, key, { metadata: { annotations: { team: "shop" } } });
  await stage.make("restore");
  await stage.untilOver();
  await stage.pass(1000);
  assert.deepEqual((await stage.cluster()).metadata?.annotations, { team: "shop" });
});

test("done is done: neither an edit nor another operator nor a lost annotation begins it again", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  const status = await stage.untilOver();
  await stage.api.mergePatch(EtcdRestore, key, { spec: { revisionBump: 5 } });
  await stage.api.mergePatch(EtcdCluster, key, { metadata: { annotations: null } });
  await stage.pass(5_000);
  await stage.stopOperator();
  const next = stage.startOperator();
  await stage.pass(60_000);
  assert.deepEqual(next.writes, []);
  assert.equal(stage.seedings.length, 1);
  const after = await stage.status();
  assert.equal(after.completedAt, status.completedAt);
  assert.equal(after.phase, "Succeeded");
  assert.match(
    after.message ?? "",
    /^The spec was changed after the restore had begun, .*: apply another EtcdRestore\.$/,
  );
});

test("an EtcdRestore that etcd-operator 0.9 has carried out is left alone", async () => {
  await using stage = new Stage();
  await stage.make("cluster");
  await stage.make("restore");
  await stage.api.mergePatch(EtcdRestore, key, { status: { succeeded: true } }, { subresource: "status" });
  const life = stage.startOperator();
  await stage.pass(30_000);
  assert.deepEqual(life.writes, []);
});

test("an edit before anything was touched ends the restore; one after it changes nothing", async () => {
  await using stage = new Stage();
  let hangs = true;
  stage.answer = (job, pod) => (hangs ? undefined : answers(job, pod));
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  await stage.until("a worker", async () => (await stage.workers()).length > 0);
  await stage.api.mergePatch(EtcdRestore, key, { spec: { revisionBump: 5 } });
  const early = await stage.untilOver();
  assert.match(early.reason ?? "", /^The spec was changed after the restore had begun\. Nothing was touched/);
  assert.equal((await stage.cluster()).metadata?.annotations, undefined);

  await stage.api.delete(EtcdRestore, key);
  await stage.make("restore");
  stage.answer = (job, pod) => (hangs && job.do === "restore" ? undefined : answers(job, pod));
  await stage.until("the seed", async () => (await stage.status()).clusterPhase === "Seeding");
  await stage.api.mergePatch(EtcdRestore, key, { spec: { revisionBump: 5, etcdCluster: { name: "other" } } });
  await stage.pass(3_000);
  assert.match(
    (await stage.status()).message ?? "",
    /is being made from the backup bucket\/etcd\/backup\. The spec was changed/,
  );
  hangs = false;
  const late = await stage.untilOver();
  assert.deepEqual([late.phase, late.revisionBump], ["Succeeded", 1_000_000_000]);
});

test("a seed that cannot be made is reported while it is tried, and given up when the backup itself is wrong", async () => {
  await using stage = new Stage();
  let looks = 0;
  stage.answer = (job, pod) => {
    if (job.do !== "restore") return answers(job, pod);
    looks += 1;
    if (looks % 10 !== 0) return undefined;
    return failure(looks < 30 ? "store" : "damaged", "The object ends too early.");
  };
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  const messages = new Set<string>();
  await stage.until("its end", async () => {
    const { message = "", phase } = await stage.status();
    messages.add(message);
    return phase === "Failed";
  });
  const uid = (await stage.restore()).metadata?.uid?.slice(0, 8) ?? "";
  assert.ok(
    messages.has(
      `The member demo-seed-${uid} could not be made from the backup bucket/etcd/backup, and is tried again: The object ends too early.`,
    ),
    [...messages].join("\n"),
  );
  const { reason = "", snapshotPath = "" } = await stage.status();
  assert.ok(
    reason.startsWith(`The member demo-seed-${uid} cannot be made from the backup: The object ends too early.`),
    reason,
  );
  assert.ok(reason.includes(snapshotPath) && snapshotPath !== "", reason);
});

test("a seed that was made from something else than was proved is a failure", async () => {
  await using stage = new Stage();
  const other: Result = { ok: true, did: { do: "restore", restored: true, backup: { ...facts, revision: 41 } } };
  stage.answer = (job, pod) => (job.do === "restore" ? other : answers(job, pod));
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  assert.match((await stage.untilOver()).reason ?? "", /was made from another backup than the one that was checked/);
});

test("another EtcdRestore that comes after one has failed takes the cluster over", async () => {
  await using stage = new Stage();
  stage.answer = (job, pod) => (job.do === "restore" ? failure("damaged") : answers(job, pod));
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  assert.equal((await stage.untilOver()).phase, "Failed");
  await stage.api.delete(EtcdRestore, key);
  stage.answer = answers;
  await stage.make("restore");
  assert.equal((await stage.untilOver()).phase, "Succeeded");
  assert.equal(stage.seedings.length, 2);
});

test("an EtcdRestore that is deleted before the cluster was asked leaves nothing behind", async () => {
  await using stage = new Stage();
  stage.answer = () => undefined;
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  const before = await stage.cluster();
  await stage.until("a worker", async () => (await stage.workers()).length > 0);
  await stage.api.delete(EtcdRestore, key);
  await stage.pass(30_000);
  assert.deepEqual(await stage.workers(), []);
  assert.deepEqual(await stage.cluster(), before);
});

test("nothing is replaced for an EtcdRestore that was deleted or edited a moment ago, before the cache shows it", async () => {
  for (const how of ["deleted", "created again", "edited"] as const) {
    await using stage = new Stage();
    await stage.make("cluster");
    await stage.make("restore", { safetySnapshot: "Skip" });
    stage.startOperator();
    // Right before the cluster is asked.
    let release: (() => void) | undefined;
    stage.api.onWrite(({ kind, object }) => {
      const { status } = ((kind === EtcdRestore.kind ? object : undefined) as EtcdRestore | undefined) ?? {};
      if (status?.phase !== "Restoring" || release !== undefined) return;
      release = stage.api.faults.freeze({ verb: "get", kind: EtcdCluster });
    });
    await stage.until("the moment", () => release !== undefined);
    await stage.clock.advance(10);
    const hold = stage.api.faults.holdWatches({ kind: EtcdRestore });
    if (how === "edited") await stage.api.mergePatch(EtcdRestore, key, { spec: { revisionBump: 1 } });
    else await stage.api.delete(EtcdRestore, key);
    if (how === "created again") await stage.make("restore", { backup: { name: "nightly" } });
    release?.();
    await stage.pass(5_000);
    assert.equal((await stage.cluster()).metadata?.annotations, undefined, how);
    hold();
    await stage.pass(5_000);
    assert.deepEqual([(await stage.cluster()).metadata?.annotations, stage.seedings], [undefined, []], how);
  }
});

test("an operator of all namespaces restores its own clusters, takes a restore into a new one that nobody takes, and says when it leaves one alone", async () => {
  await using stage = new Stage();
  stage.scope = { t: "clusterwide" };
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  await stage.make("restore", { etcdCluster: { name: "copy" }, clusterSpec: { size: 1 } }, "to-copy");
  await stage.pass(40_000);
  assert.deepEqual([await stage.status(), (await stage.status("to-copy")).phase], [{}, "Succeeded"]);
  assert.equal((await stage.cluster("copy")).metadata?.annotations?.["etcd.database.coreos.com/scope"], "clusterwide");
  const told = stage.recorded.map(({ reason }) => reason).filter((reason) => reason.endsWith("Taken"));
  assert.deepEqual(told, ["Taken", "Not Taken"]);
  const annotations = { "etcd.database.coreos.com/scope": "clusterwide" };
  await stage.api.mergePatch(EtcdCluster, key, { metadata: { annotations } });
  assert.equal((await stage.untilOver()).phase, "Succeeded");
});

test("a settled restore costs no writes, whatever its cluster and its EtcdBackup do", async () => {
  await using stage = new Stage();
  const life = stage.startOperator();
  await stage.make("cluster");
  await stage.make("backup");
  await stage.make("restore", { backup: { name: "nightly" } });
  await stage.untilOver();
  const writes = life.writes.length;
  await stage.api.mergePatch(EtcdCluster, key, { status: { ready: "2/3" } }, { subresource: "status" });
  await stage.api.mergePatch(EtcdBackup, { namespace, name: "nightly" }, { spec: { verify: { restore: true } } });
  await stage.pass(60_000);
  assert.equal(life.writes.length, writes);
});
