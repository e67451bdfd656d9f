// Restores that cannot be: what is wrong with the backup, the cluster or what a worker needs, in a sentence; nothing is touched.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { ApiError } from "../kube/client/errors.ts";
import { Pod } from "../kube/objects/kinds.ts";
import type { FailureCode } from "../worker/job.ts";
import { failure } from "./testing/samples.ts";
import { answers, Stage } from "./testing/stage.ts";

interface Refusal {
  readonly name: string;
  readonly cluster?: object;
  readonly backup?: object;
  readonly restore?: object;
  readonly called?: string;
  readonly says: RegExp;
}

const refusals: readonly Refusal[] = [
  {
    name: "a spec that cannot be used",
    restore: { before: "yesterday" },
    says: /spec\.before .*for example 2026-01-31T12:00:00Z\. .*Correct it and apply it again\.$/,
  },
  {
    name: "a cluster that exists and has another name than the EtcdRestore",
    called: "other",
    says: /^There is an EtcdCluster demo: to replace its data, the EtcdRestore must have its name, demo; to restore into a new cluster, choose another name/,
  },
  {
    name: "a cluster that does not exist, without saying what to make",
    restore: { etcdCluster: { name: "nowhere" } },
    says: /^There is no EtcdCluster nowhere: name one that exists, or describe the new one in spec\.clusterSpec/,
  },
  {
    name: "a new cluster that cannot be",
    restore: { etcdCluster: { name: "copy" }, clusterSpec: { size: 12 } },
    says: /size/,
  },
  {
    name: "a new cluster that nobody would make",
    restore: { etcdCluster: { name: "copy" }, clusterSpec: { size: 1, paused: true } },
    says: /^spec\.clusterSpec\.paused is true/,
  },
  {
    name: "an EtcdBackup that cannot be used",
    backup: { backupPolicy: { schedule: "often" } },
    restore: { backup: { name: "nightly" } },
    says: /^The EtcdBackup nightly cannot be used: spec\.backupPolicy\.schedule is often/,
  },
];

for (const { name, cluster, backup, restore, called, says } of refusals)
  test(`${name} is refused with a sentence, and nothing is touched`, async () => {
    await using stage = new Stage();
    await stage.make("cluster", cluster);
    if (backup !== undefined) await stage.make("backup", backup);
    await stage.make("restore", restore, called);
    const before = await stage.cluster();
    const life = stage.startOperator();
    const status = await stage.untilOver(called);
    assert.equal(status.phase, "Failed");
    assert.equal(status.succeeded, false);
    assert.match(status.reason ?? "", says);
    assert.equal(status.message, status.reason);
    assert.deepEqual(await stage.cluster(), before);
    assert.ok(
      life.writes.every((write) => write.startsWith("patch EtcdRestore")),
      life.writes.join(", "),
    );
    assert.deepEqual(
      stage.recorded.map(({ reason }) => reason),
      ["Restore Failed"],
    );
  });

const definite: readonly FailureCode[] = [
  "damaged",
  "tampered",
  "wrongKey",
  "keyMissing",
  "newerVersion",
  "notFound",
  "misconfigured",
];

for (const code of definite)
  test(`a backup that is ${code} ends the restore at once, before anything is touched`, async () => {
    await using stage = new Stage();
    stage.answer = () => failure(code, "The store says what it is.");
    await stage.make("cluster");
    await stage.make("restore");
    const before = await stage.cluster();
    stage.startOperator();
    const status = await stage.untilOver();
    assert.deepEqual([status.phase, status.reason], ["Failed", "The store says what it is. Nothing was touched."]);
    // What the cluster holds was being saved meanwhile, and nobody waits for that.
    assert.deepEqual(
      stage.jobs.map((job) => job.do),
      ["check", "backup"],
    );
    assert.deepEqual(await stage.cluster(), before);
    assert.deepEqual(await stage.workers(), [status.pod], "its log can be read");
  });

for (const code of ["store", "stalled", "failed"] as const)
  test(`a check that ends with ${code} is tried again, ever later, and five times at most`, async () => {
    await using stage = new Stage();
    const at: number[] = [];
    stage.answer = (job, pod) => {
      if (job.do !== "check") return undefined;
      at.push(Date.parse(pod.metadata?.creationTimestamp ?? ""));
      return failure(code, "The store does not answer.");
    };
    await stage.make("cluster");
    await stage.make("restore");
    stage.startOperator();
    await stage.until("the second attempt", async () => (await stage.status()).attempt === 2);
    assert.equal((await stage.status()).message, "The store does not answer. Attempt 2 of 5 follows in 5 s.");
    const status = await stage.untilOver();
    assert.match(status.reason ?? "", /^The store does not answer\. It was tried 5 times\. Nothing was touched\./);
    const waits = at.slice(1).map((time, i) => Math.round((time - (at[i] ?? 0)) / 1000));
    assert.equal(waits.length, 4);
    for (const [i, wanted] of [5, 10, 20, 40].entries())
      assert.ok(Math.abs((waits[i] ?? 0) - wanted) <= 2, waits.join(", "));
    assert.deepEqual(await stage.workers(), [status.pod]);
  });

test("a worker that cannot start is reported with what it needs, and goes on when it is there", async () => {
  await using stage = new Stage();
  let hangs = true;
  stage.answer = (job, pod) => (hangs ? undefined : answers(job, pod));
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  await stage.pass(45_000);
  const { message = "", phase, pod } = await stage.status();
  assert.equal(phase, "Checking");
  assert.equal(
    message,
    `The pod ${pod} has not started yet: check that these exist: the Secret aws; \`kubectl describe pod ${pod}\` says what it waits for.`,
  );
  hangs = false;
  assert.equal((await stage.untilOver()).phase, "Succeeded");
});

test("as long as the operator does not know its own image, it says so", async () => {
  await using stage = new Stage();
  stage.image = undefined;
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  await stage.pass(5_000);
  assert.match((await stage.status()).message ?? "", /^The operator does not know its own image/);
  stage.image = "operator";
  assert.equal((await stage.untilOver()).phase, "Succeeded");
});

test("a pod that the namespace forbids is reported with the server's words, and made as soon as it may be", async () => {
  await using stage = new Stage();
  let forbidden = true;
  stage.admission = {
    change: (_kind, object) => object,
    check: (verb, kind) => {
      if (verb === "create" && kind.kind === Pod.kind && forbidden)
        throw new ApiError(403, "Forbidden", "exceeded quota: pods");
    },
  };
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  await stage.pass(15_000);
  assert.match(
    (await stage.status()).message ?? "",
    /^exceeded quota: pods\. Change spec\.worker .*It is tried again every 10 s\.$/,
  );
  forbidden = false;
  assert.equal((await stage.untilOver()).phase, "Succeeded");
});

test("what a webhook says is written down in one line without what a terminal obeys", async () => {
  await using stage = new Stage();
  stage.admission = {
    change: (_kind, object) => object,
    check: (verb, kind) => {
      if (verb === "create" && kind.kind === Pod.kind)
        throw new ApiError(403, "Forbidden", "denied:\n\u001B[2J\u009BH\u202E");
    },
  };
  stage.startOperator();
  await stage.make("cluster");
  await stage.make("restore");
  await stage.pass(15_000);
  assert.match((await stage.status()).message ?? "", /^denied: �\[2J�H�\. Change spec\.worker/);
});

test("a new cluster that the server refuses ends the restore", async () => {
  await using stage = new Stage();
  stage.admission = {
    change: (_kind, object) => object,
    check: (verb, kind) => {
      if (verb === "create" && kind.kind === EtcdCluster.kind)
        throw new ApiError(422, "Invalid", "spec.size: Invalid value");
    },
  };
  stage.startOperator();
  await stage.make("restore", { clusterSpec: { size: 1 } });
  const status = await stage.untilOver();
  assert.equal(
    status.reason,
    "spec.size: Invalid value. Nothing was touched: correct spec.clusterSpec and apply it again.",
  );
});
