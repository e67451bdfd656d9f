// How a job is done and what is said of it: which jobs there are, that stores are closed, and that no secret is said.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdError } from "../../etcd/errors.ts";
import { SealError } from "../../seal/errors.ts";
import { StoreError } from "../../store/errors.ts";
import { MemoryStore } from "../../store/testing/memory-store.ts";
import { TransportError } from "../../transport/errors.ts";
import type { DeleteJob, Job } from "../job.ts";
import { testWorker } from "../testing/test-worker.ts";
import { hasCode, isExpected, WorkerFailure } from "./failure.ts";
import { parseJob, runJob } from "./run-job.ts";

const job: DeleteJob = {
  do: "delete",
  owner: { namespace: "ns", name: "mine" },
  store: { type: "PVC", folder: "/" },
  key: { t: "once", path: "a/b" },
};

class CountedStore extends MemoryStore {
  closed = 0;
  override close(): void {
    this.closed += 1;
  }
}

test("a store is closed after the job, whether that succeeds or fails", async () => {
  const store = new CountedStore();
  await using worker = await testWorker(store);
  assert.deepEqual(await runJob(job, worker), { ok: true, did: { do: "delete", deleted: 0, locked: 0 } });
  assert.equal(store.closed, 1);
  store.fail("unavailable", { times: 100 });
  const result = await runJob(job, worker);
  assert.ok(!result.ok && result.code === "store", JSON.stringify(result));
  assert.equal(store.closed, 2);
});

test("the log of a worker says which job it is and how it ended", async () => {
  await using worker = await testWorker(new MemoryStore());
  await runJob(job, worker);
  const choice = { t: "key", key: "a/b" } as const;
  await runJob({ do: "check", store: job.store, choice, targetVersion: "3.6.16", stalledAfterSeconds: 5 }, worker);
  const said = worker.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const find = (message: string): Record<string, unknown> | undefined =>
    said.find((line) => line["message"] === message);
  assert.deepEqual(find("delete: begins")?.["object"], job.key);
  assert.ok(find("delete: done"), worker.lines.join(""));
  assert.deepEqual(find("check: begins")?.["choice"], choice);
  assert.equal(find("check: failed")?.["code"], "notFound");
});

test("a job is read from text, and what is none is refused", () => {
  const jobs: readonly object[] = [job, { do: "awaitName", host: "a", withinSeconds: 1 } satisfies Job];
  for (const one of jobs) assert.deepEqual(parseJob(JSON.stringify(one)), one);
  for (const text of [undefined, "", "{", "null", "7", '"do"', "{}", '{"do":"backup"}', '{"do":"dance","store":{}}'])
    assert.throws(() => parseJob(text), /There is no job to do/, text);
});

test("errors have the code of who made them, and only those of the program itself are unexpected", async () => {
  const rows: readonly [Error, string, boolean][] = [
    [new WorkerFailure("damaged", "x"), "damaged", true],
    [new WorkerFailure("failed", "x"), "failed", true],
    [new StoreError("full", "x"), "store", true],
    [new EtcdError("noLeader", "Status", "x"), "etcd", true],
    [new TransportError("broken", "x"), "etcd", true],
    [new SealError("wrongKey", "x"), "wrongKey", true],
    [new SealError("badKey", "x"), "misconfigured", true],
    [new TypeError("x"), "failed", false],
  ];
  for (const [error, code, expected] of rows) {
    await using worker = await testWorker(new MemoryStore(), { openStore: () => Promise.reject(error) });
    const result = await runJob(job, worker);
    assert.ok(!result.ok, JSON.stringify(result));
    assert.deepEqual([result.code, result.message], [code, error.message]);
    assert.equal(isExpected(error), expected, error.name);
    assert.equal(error.name, error.constructor.name);
    // The stack is of use where nobody expected it.
    assert.equal(/"error":/.test(worker.lines.join("")), !expected, worker.lines.join(""));
  }
  const full = Object.assign(new Error("x"), { code: "ENOSPC" });
  assert.deepEqual(
    [hasCode(full, "EIO", "ENOSPC"), hasCode(full, "EIO"), hasCode(new Error("x"), "EIO")],
    [true, false, false],
  );
  assert.equal(hasCode({ code: "EIO" }, "EIO"), false);
});
