// The controller of EtcdBackups from end to end, in memory and in simulated time.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { Pod } from "../kube/objects/kinds.ts";
import type { FailureCode, Result } from "../worker/job.ts";
import { key, Stage } from "./testing/stage.ts";

const minutes = 60_000;
const hours = 60 * minutes;

const failure = (code: FailureCode, message = "The store does not answer."): Result => ({ ok: false, code, message });
const fails = (code: FailureCode, message?: string) => () =>
  ({ t: "ends", result: { ...failure(code), ...(message !== undefined && { message }) } }) as const;
const reasons = (stage: Stage): string[] => stage.recorded.map(({ reason }) => reason);

describe("a backup that is taken once", () => {
  test("is taken at once, its facts are in the status, and then nothing is written any more", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create();
    await stage.untilPhase("Succeeded");
    const status = await stage.status();
    assert.equal(status.succeeded, true);
    assert.equal(status.Reason, undefined);
    assert.equal(status.run, undefined);
    assert.equal(status.nextRun, undefined);
    assert.equal(status.lastBackup?.path, "bucket/etcd/backup");
    assert.equal(status.etcdVersion, "3.6.16");
    assert.equal(status.etcdRevision, 100);
    assert.equal(status.history?.length, 1);
    assert.equal((await stage.condition("Complete"))?.status, "True");
    assert.equal((await stage.condition("Problem"))?.status, "False");
    assert.deepEqual(reasons(stage), ["Backup Succeeded"]);
    await stage.pass(5_000);
    assert.deepEqual(await stage.podNames(), []);
    const writes = stage.life.writes.length;
    stage.api.forgetRequests();
    await stage.pass(24 * hours);
    assert.equal(stage.life.writes.length, writes);
    assert.deepEqual(
      stage.api.requests.filter(({ verb }) => verb !== "watch"),
      [],
    );
    assert.equal(stage.workers.count("backup"), 1);
  });

  test("has metrics that go with it", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create();
    await stage.untilPhase("Succeeded");
    const sample = (name: string) => stage.metric(`etcd_operator_backup_${name}`);
    await stage.pass(1_000);
    assert.equal(sample("last_size_bytes"), 1100);
    assert.equal(sample("failures_in_a_row"), 0);
    assert.equal(sample("last_success_timestamp_seconds"), Date.parse((await stage.status()).lastSuccessDate!) / 1000);
    assert.equal(sample("runs_total"), 1);
    await stage.api.delete(EtcdBackup, key);
    await stage.pass(5_000);
    assert.equal(sample("last_size_bytes"), undefined);
    assert.equal(sample("runs_total"), undefined);
  });

  test("is tried five times when the store does not answer, and then has failed with its reason", async () => {
    await using stage = new Stage();
    stage.workers.fate = fails("store");
    stage.startOperator();
    await stage.create();
    await stage.untilPhase("Failed");
    const status = await stage.status();
    assert.equal(stage.workers.count("backup"), 5);
    assert.equal(stage.workers.most, 1);
    assert.equal(status.Reason, "The store does not answer.");
    assert.equal(status.failures, 1);
    assert.equal(status.succeeded, false);
    assert.deepEqual(reasons(stage), [...Array<string>(4).fill("Backup Retried"), "Backup Failed"]);
    await stage.pass(5_000);
    assert.equal((await stage.podNames()).length, 1, "the last that failed stays for its log");
    await stage.pass(24 * hours);
    assert.equal(stage.workers.count("backup"), 5);
  });

  test("writes down nothing that a terminal obeys, whatever a kubelet or a store says", async () => {
    await using stage = new Stage();
    stage.workers.fate = fails("misconfigured", "No.\n\u001B[2J\u009BH\u202E");
    stage.startOperator();
    await stage.create();
    await stage.untilPhase("Failed");
    assert.doesNotMatch(JSON.stringify(await stage.status()), /\\u00|\\[nr]|[\u0080-\u009F\u202E]/);
  });

  for (const code of ["misconfigured", "wrongKey", "keyMissing"] as const)
    test(`has failed at once when trying again does not help (${code})`, async () => {
      await using stage = new Stage();
      stage.workers.fate = fails(code);
      stage.startOperator();
      await stage.create();
      await stage.untilPhase("Failed");
      assert.equal(stage.workers.count("backup"), 1);
    });

  test("is taken after all when an attempt succeeds, and the reason is gone", async () => {
    await using stage = new Stage();
    stage.workers.fate = (_job, nth) => (nth < 2 ? { t: "evicted" } : undefined);
    stage.startOperator();
    await stage.create();
    await stage.until("a reason", async () => (await stage.status()).Reason?.includes("Evicted") === true);
    await stage.untilPhase("Succeeded");
    const status = await stage.status();
    assert.equal(status.Reason, undefined);
    assert.equal(status.history?.length, 1);
    await stage.pass(5_000);
    assert.deepEqual(await stage.podNames(), []);
  });

  test("is taken again by a pod that takes the place of one that was deleted", async () => {
    await using stage = new Stage();
    stage.workers.fate = (_job, nth) => (nth === 0 ? { t: "runs" } : undefined);
    stage.startOperator();
    await stage.create();
    await stage.until("a worker", () => stage.workers.running === 1);
    const [name = ""] = await stage.podNames();
    await stage.api.delete(Pod, { ...key, name });
    await stage.until("another attempt", async () => (await stage.status()).run?.attempt === 2);
    assert.match((await stage.status()).Reason ?? "", /was deleted, or its node was lost/);
    await stage.untilPhase("Succeeded");
    assert.equal(stage.workers.count("backup"), 2);
    assert.equal(stage.workers.most, 1);
  });

  test("is taken again when its node is lost and never reports the end of the pod", async () => {
    await using stage = new Stage();
    stage.workers.fate = (_job, nth) => (nth === 0 ? { t: "runs" } : undefined);
    stage.workers.stops = false;
    stage.startOperator();
    await stage.create();
    await stage.until("a worker", () => stage.workers.running === 1);
    const [name = ""] = await stage.podNames();
    await stage.api.delete(Pod, { ...key, name });
    await stage.pass(30_000);
    assert.equal(stage.workers.count("backup"), 1);
    await stage.untilPhase("Succeeded");
    assert.equal(stage.workers.count("backup"), 2);
  });

  test("that failed is tried again when its spec is edited, and on request", async () => {
    await using stage = new Stage();
    stage.workers.fate = fails("misconfigured");
    stage.startOperator();
    await stage.create();
    await stage.untilPhase("Failed");
    await stage.ask("again");
    await stage.until("another run", () => stage.workers.count("backup") === 2);
    await stage.untilPhase("Failed");
    stage.workers.fate = () => undefined;
    await stage.edit({ s3: { path: "other/place" } });
    await stage.untilPhase("Succeeded");
    assert.equal((await stage.status()).lastBackup?.path, "other/place");
    assert.equal((await stage.status()).Reason, undefined);
    assert.equal((await stage.status()).history?.length, 3);
  });

  for (const status of [
    { succeeded: true, etcdRevision: 9 },
    { succeeded: false, Reason: "failed to save snapshot" },
  ])
    test(`of etcd-operator 0.9 that has ${status.succeeded ? "succeeded" : "failed"} is not run again`, async () => {
      await using stage = new Stage();
      await stage.create({}, status);
      stage.startOperator();
      await stage.untilPhase(status.succeeded ? "Succeeded" : "Failed");
      await stage.pass(1 * hours);
      assert.equal(stage.workers.count("backup"), 0);
      assert.equal((await stage.status()).Reason, status.Reason);
      await stage.ask("please");
      await stage.until("a run", () => stage.workers.count("backup") === 1);
    });
});

describe("a series at an interval", () => {
  test("begins at once, goes on from each start, and says when the next begins", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ backupPolicy: { backupIntervalInSecond: 600 } });
    await stage.untilPhase("Scheduled");
    const { nextRun, history } = await stage.status();
    assert.equal(Date.parse(nextRun!) - Date.parse(history![0]!.startedAt!), 600_000);
    await stage.pass(60 * minutes);
    assert.equal(stage.workers.count("backup"), 7);
    assert.equal(stage.workers.most, 1);
    assert.equal((await stage.status()).history?.length, 7);
    assert.equal(stage.workers.stored.size, 7);
  });

  test("is one run late after an absence, not many", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ backupPolicy: { backupIntervalInSecond: 600 } });
    await stage.untilPhase("Scheduled");
    await stage.stopOperator();
    await stage.pass(5 * hours);
    stage.startOperator();
    await stage.pass(1 * minutes);
    assert.equal(stage.workers.count("backup"), 2);
    const { nextRun } = await stage.status();
    assert.ok(Date.parse(nextRun!) > stage.now() + 8 * minutes, nextRun);
  });

  test("never has two runs at once, even if one takes longer than the interval", async () => {
    await using stage = new Stage();
    stage.workers.fate = (_job, nth) => (nth === 0 ? { t: "runs" } : undefined);
    stage.startOperator();
    await stage.create({ backupPolicy: { backupIntervalInSecond: 60 } });
    await stage.pass(30 * minutes);
    assert.equal(stage.workers.count("backup"), 1);
  });

  test("gives up the attempts of a run when the next is due, and counts the failures", async () => {
    await using stage = new Stage();
    stage.workers.fate = fails("etcd");
    stage.startOperator();
    await stage.create({ backupPolicy: { backupIntervalInSecond: 60 } });
    await stage.pass(10 * minutes);
    const status = await stage.status();
    assert.ok((status.failures ?? 0) >= 9, String(status.failures));
    assert.equal(status.succeeded, false);
    assert.equal(stage.metric("etcd_operator_backup_failures_in_a_row"), status.failures);
    stage.workers.fate = () => undefined;
    await stage.until("a success", async () => (await stage.status()).succeeded === true);
    assert.equal((await stage.status()).failures, 0);
    assert.equal((await stage.condition("Problem"))?.status, "False");
  });

  test("carries the limits of retention to the worker, and the last verified backup is to stay", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({
      backupPolicy: { backupIntervalInSecond: 600, maxBackups: 4, maxAgeInSecond: 86_400 },
      verify: { restore: true },
    });
    await stage.until("a second run", () => stage.workers.count("backup") === 2);
    const [first, second] = stage.workers.jobs.filter((job) => job.do === "backup");
    assert.deepEqual(first?.retention, { maxBackups: 4, maxAgeSeconds: 86_400, keep: [] });
    const key = (await stage.status()).lastVerified?.path.replace("bucket/", "");
    assert.deepEqual(second?.retention?.keep, [key]);
  });
});

describe("a series by a schedule", () => {
  test("runs at its times through the night that has an hour twice", async () => {
    await using stage = new Stage("2026-10-24T12:00:00Z");
    stage.startOperator();
    await stage.create({ backupPolicy: { schedule: "30 2 * * *", timeZone: "Europe/Berlin" } });
    await stage.untilPhase("Scheduled");
    assert.equal((await stage.status()).nextRun, "2026-10-25T00:30:00Z");
    await stage.pass(36 * hours);
    assert.deepEqual(
      stage.workers.jobs.map((job) => job.do === "backup" && job.startedAt),
      ["2026-10-25T00:30:00Z"],
    );
    assert.equal((await stage.status()).nextRun, "2026-10-26T01:30:00Z");
    assert.equal((await stage.status()).lastScheduleTime, "2026-10-25T00:30:00Z");
  });

  test("makes up once for the times that were missed", async () => {
    await using stage = new Stage();
    await stage.create({ backupPolicy: { schedule: "0 * * * *" } });
    stage.startOperator();
    await stage.pass(90 * minutes);
    assert.equal(stage.workers.count("backup"), 1);
    await stage.stopOperator();
    await stage.pass(10 * hours);
    stage.startOperator();
    await stage.pass(5 * minutes);
    assert.equal(stage.workers.count("backup"), 2);
    assert.equal((await stage.status()).nextRun, "2026-01-01T12:00:00Z");
  });

  test("begins nothing while it is suspended, and does not make up for it", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ backupPolicy: { schedule: "0 * * * *", suspend: true } });
    await stage.pass(5 * hours + 30 * minutes);
    const status = await stage.status();
    assert.deepEqual([status.phase, status.nextRun], ["Suspended", undefined]);
    await stage.edit({ backupPolicy: { suspend: false } });
    await stage.pass(1 * minutes);
    assert.equal((await stage.status()).nextRun, "2026-01-01T06:00:00Z");
    assert.equal(stage.workers.count("backup"), 0);
    await stage.pass(1 * hours);
    assert.equal(stage.workers.count("backup"), 1);
  });

  test("has one run on request between two of its times, which stay as they were", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ backupPolicy: { schedule: "0 * * * *" } });
    await stage.pass(10 * minutes);
    await stage.ask("before the upgrade");
    await stage.pass(10 * minutes);
    assert.equal(stage.workers.count("backup"), 1);
    const status = await stage.status();
    assert.equal(status.history?.[0]?.trigger, "Annotation");
    assert.equal(status.nextRun, "2026-01-01T01:00:00Z");
    await stage.pass(1 * hours);
    assert.equal(stage.workers.count("backup"), 2);
  });

  test("can be asked for the same thing twice, after something else", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ backupPolicy: { schedule: "0 * * * *" } });
    for (const value of ["a", "b", "a"]) {
      await stage.ask(value);
      await stage.pass(1 * minutes);
    }
    assert.equal(stage.workers.count("backup"), 3);
  });

  test("follows an edited schedule from then on", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ backupPolicy: { schedule: "0 12 * * *" } });
    await stage.pass(10 * hours);
    await stage.edit({ backupPolicy: { schedule: "0 9 * * *" } });
    await stage.pass(1 * minutes);
    assert.equal((await stage.status()).nextRun, "2026-01-02T09:00:00Z");
    assert.equal(stage.workers.count("backup"), 0);
  });
});

describe("a verification", () => {
  const verify = { restore: true };

  test("restores the backup into a throwaway member, and says so", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ verify });
    await stage.untilPhase("Verifying");
    assert.equal((await stage.status()).succeeded, true);
    await stage.untilPhase("Succeeded");
    const status = await stage.status();
    assert.equal(status.lastVerified?.path, "bucket/etcd/backup");
    assert.equal(status.lastVerified?.revision, 100);
    assert.equal((await stage.condition("Verified"))?.status, "True");
    assert.deepEqual(reasons(stage), ["Backup Succeeded", "Backup Verified"]);
    await stage.pass(5_000);
    assert.deepEqual(await stage.podNames(), [], "its etcd does not end by itself");
  });

  test("that fails is loud, and the backup stays", async () => {
    await using stage = new Stage();
    stage.workers.fate = (job) => (job.do === "verify" ? fails("damaged")() : undefined);
    stage.startOperator();
    await stage.create({ verify });
    await stage.until("an end", async () => (await stage.condition("Verified")) !== undefined);
    const status = await stage.status();
    assert.equal(status.phase, "Succeeded");
    assert.equal(status.succeeded, true);
    assert.equal(status.lastVerified, undefined);
    assert.equal((await stage.condition("Verified"))?.status, "False");
    assert.equal((await stage.condition("Problem"))?.reason, "VerificationFailed");
    assert.match(status.history?.[0]?.message ?? "", /could not be verified/);
    assert.deepEqual(reasons(stage), ["Backup Succeeded", "Verification Failed"]);
    assert.equal(stage.workers.stored.size, 1);
    await stage.pass(5_000);
    assert.deepEqual(await stage.podNames(), []);
  });

  test("is tried again when it could not be done", async () => {
    await using stage = new Stage();
    stage.workers.fate = (job, nth) => (job.do === "verify" && nth < 2 ? fails("stalled")() : undefined);
    stage.startOperator();
    await stage.create({ verify });
    await stage.untilPhase("Succeeded");
    assert.equal(stage.workers.count("verify"), 3);
    assert.equal(stage.workers.count("backup"), 1);
    assert.equal((await stage.condition("Verified"))?.status, "True");
  });
});

describe("a worker that does not start", () => {
  const cases = [
    ["waits for a Secret", { t: "waits", reason: "ContainerCreating" }, /check that these exist: the Secret aws/],
    ["waits for its image", { t: "waits", reason: "ImagePullBackOff" }, /cannot be pulled\. It is the operator/],
    ["cannot be configured", { t: "waits", reason: "CreateContainerConfigError" }, /CreateContainerConfigError/],
    ["fits on no node", { t: "unscheduled" }, /No node takes the pod .*spec\.worker\.nodeSelector/],
  ] as const;
  for (const [what, fortune, words] of cases)
    test(`because it ${what} is told with what to do, once`, async () => {
      await using stage = new Stage();
      stage.workers.fate = () => fortune;
      stage.startOperator();
      await stage.create();
      await stage.until("a problem", async () => (await stage.condition("Problem"))?.status === "True");
      assert.match((await stage.status()).Reason ?? "", words);
      assert.match((await stage.status()).message ?? "", words);
      assert.deepEqual(reasons(stage), ["Worker Cannot Start"]);
      const writes = stage.life.writes.length;
      await stage.pass(1 * hours);
      assert.equal(stage.life.writes.length, writes);
    });

  test("is made again when the spec is edited", async () => {
    await using stage = new Stage();
    stage.workers.fate = (_job, nth) => (nth === 0 ? { t: "waits", reason: "ContainerCreating" } : undefined);
    stage.startOperator();
    await stage.create();
    await stage.pass(10_000);
    await stage.edit({ s3: { awsSecret: "aws-2" } });
    await stage.untilPhase("Succeeded");
    assert.equal(stage.workers.count("backup"), 2);
    assert.equal((await stage.status()).Reason, undefined);
  });

  test("in a series makes room for the next run when that is due", async () => {
    await using stage = new Stage();
    stage.workers.fate = (_job, nth) => (nth === 0 ? { t: "waits", reason: "ContainerCreating" } : undefined);
    stage.startOperator();
    await stage.create({ backupPolicy: { backupIntervalInSecond: 600 } });
    await stage.pass(11 * minutes);
    assert.equal(stage.workers.count("backup"), 2);
    const { history = [], succeeded } = await stage.status();
    assert.deepEqual([history.map(({ result }) => result), succeeded], [["Succeeded", "Failed"], true]);
  });

  test("because the namespace takes no more pods is told, and made as soon as it does", async () => {
    await using stage = new Stage();
    stage.quota = "exceeded quota: pods";
    stage.startOperator();
    await stage.create();
    await stage.until("a problem", async () => (await stage.condition("Problem"))?.reason === "Refused");
    assert.match((await stage.status()).Reason ?? "", /exceeded quota.*spec\.worker/);
    await stage.pass(1 * minutes);
    const writes = stage.life.writes.length;
    await stage.pass(10 * minutes);
    assert.equal(stage.life.writes.length, writes);
    assert.deepEqual(reasons(stage), ["Refused"]);
    stage.quota = undefined;
    await stage.untilPhase("Succeeded");
    assert.equal((await stage.status()).Reason, undefined);
  });

  test("because the operator does not know its image yet is made once it does", async () => {
    await using stage = new Stage();
    stage.image = undefined;
    stage.startOperator();
    await stage.create();
    await stage.untilPhase("Pending");
    stage.image = "operator:1";
    await stage.untilPhase("Succeeded");
  });
});

describe("a backup of an EtcdCluster", () => {
  const clusterRef = { etcdEndpoints: [], clusterRef: { name: "demo" } };
  const cluster = { namespace: "default", name: "demo" };
  const endpoints = ["https://demo-b.demo.default.svc:2379", "https://demo-a.demo.default.svc:2379"];

  test("waits for the cluster to be there and to serve, and then reaches it with the operator's certificate", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create(clusterRef);
    await stage.untilPhase("Pending");
    assert.match((await stage.status()).Reason ?? "", /There is no EtcdCluster demo/);
    await stage.api.create(EtcdCluster, { metadata: cluster, spec: { size: 3, TLS: { auto: true } } });
    await stage.until("another reason", async () => /has served/.test((await stage.status()).Reason ?? ""));
    assert.equal(stage.workers.count("backup"), 0);
    await stage.api.mergePatch(
      EtcdCluster,
      cluster,
      { status: { clientEndpoints: endpoints } },
      { subresource: "status" },
    );
    await stage.untilPhase("Succeeded");
    const job = stage.workers.jobs.find((one) => one.do === "backup");
    assert.deepEqual(job?.source.endpoints, endpoints);
    assert.equal(job?.source.tlsFolder, "/etc/etcd-worker/tls");
    assert.equal(job?.cluster?.name, "demo");
    assert.equal((await stage.status()).Reason, undefined);
    assert.deepEqual(reasons(stage), ["Backup Waits", "Backup Waits", "Backup Succeeded"]);
  });

  test("waits while its data is being replaced: a run could prune the backup that the members are made from", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.api.create(EtcdCluster, { metadata: cluster, spec: { size: 3 } });
    const restored = (phase: string) =>
      stage.api.mergePatch(
        EtcdCluster,
        cluster,
        { status: { clientEndpoints: endpoints, restore: { name: "demo", uid: "u", phase } } },
        { subresource: "status" },
      );
    await restored("Stopping");
    await stage.create(clusterRef);
    await stage.untilPhase("Pending");
    await restored("Seeding");
    await stage.pass(60_000);
    assert.equal(stage.workers.count("backup"), 0);
    assert.match((await stage.status()).Reason ?? "", /is being replaced by the EtcdRestore demo/);
    await restored("Done");
    await stage.untilPhase("Succeeded");
  });
});

describe("an EtcdBackup that is wrong", () => {
  test("is told so once, runs nothing, and runs when it is corrected", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ backupPolicy: { schedule: "every day" } });
    await stage.untilPhase("Failed");
    assert.match((await stage.status()).Reason ?? "", /which is not a Cron schedule/);
    assert.equal((await stage.condition("Problem"))?.reason, "InvalidSpec");
    await stage.pass(24 * hours);
    assert.deepEqual(reasons(stage), ["Invalid Spec"]);
    assert.equal(stage.workers.jobs.length, 0);
    await stage.edit({ backupPolicy: { schedule: "@hourly" } });
    await stage.untilPhase("Scheduled");
    assert.equal((await stage.status()).Reason, undefined);
    await stage.pass(1 * hours);
    assert.equal(stage.workers.count("backup"), 1);
  });

  test("and is to run once runs when it is corrected", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.create({ s3: { path: "bucket/../etc", awsSecret: "aws" } });
    await stage.untilPhase("Failed");
    await stage.edit({ s3: { path: "bucket/etc" } });
    await stage.untilPhase("Succeeded");
  });
});
