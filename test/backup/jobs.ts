// Jobs of a worker, run in this process against real etcd servers and etcd's own etcdutl.
import assert from "node:assert/strict";
import * as path from "node:path";
import { ensureBuilt } from "../../lab/build/cache.ts";
import { etcdutlRecipe } from "../../lab/build/etcd.ts";
import type {
  BackupDone,
  BackupFacts,
  BackupJob,
  CheckJob,
  Done,
  FailureCode,
  Job,
  RestoreJob,
} from "../../src/worker/job.ts";
import { runJob } from "../../src/worker/program/run-job.ts";
import { MemoryStore } from "../../src/store/testing/memory-store.ts";
import { testWorker } from "../../src/worker/testing/test-worker.ts";
import type { JobContext } from "../../src/worker/program/job-context.ts";

export const target = { type: "PVC", folder: "/backups" } as const;

export const etcdutl = async (): Promise<string> => path.join(await ensureBuilt(await etcdutlRecipe()), "etcdutl");

/** One store, and workers that use it. */
export class Jobs {
  readonly store = new MemoryStore();
  #runs = 0;

  async run(job: Job, parts: Partial<JobContext> = {}) {
    await using worker = await testWorker(this.store, { etcdutl: await etcdutl(), ...parts });
    return await runJob(job, worker);
  }

  async does(job: Job, parts?: Partial<JobContext>): Promise<Done> {
    const result = await this.run(job, parts);
    assert.ok(result.ok, JSON.stringify(result));
    return result.did;
  }

  /** Gives back the sentence. */
  async fails(code: FailureCode, job: Job, parts?: Partial<JobContext>): Promise<string> {
    const result = await this.run(job, parts);
    assert.ok(!result.ok, JSON.stringify(result));
    assert.equal(result.code, code, result.message);
    return result.message;
  }

  backupJob(endpoints: readonly string[], changes: Partial<BackupJob> = {}): BackupJob {
    this.#runs += 1;
    return {
      do: "backup",
      owner: { namespace: "ns", name: "nightly" },
      run: `run-${this.#runs}`,
      source: { endpoints },
      store: target,
      key: { t: "once", path: "etcd/backup" },
      startedAt: new Date().toISOString(),
      stalledAfterSeconds: 30,
      ...changes,
    };
  }

  async backup(endpoints: readonly string[], changes?: Partial<BackupJob>): Promise<BackupDone> {
    const did = await this.does(this.backupJob(endpoints, changes));
    assert.ok(did.do === "backup");
    return did;
  }

  checkJob(targetVersion: string, key: string, changes: Partial<CheckJob> = {}): CheckJob {
    return {
      do: "check",
      store: target,
      choice: { t: "key", key },
      targetVersion,
      stalledAfterSeconds: 30,
      ...changes,
    };
  }

  async check(targetVersion: string, key: string, changes?: Partial<CheckJob>): Promise<BackupFacts> {
    const did = await this.does(this.checkJob(targetVersion, key, changes));
    assert.ok(did.do === "check");
    return did.backup;
  }

  restoreJob(
    { key, sha256 }: Pick<BackupFacts, "key" | "sha256">,
    targetVersion: string,
    { name, peerUrl, dataDir }: { name: string; peerUrl: string; dataDir: string },
    changes: Partial<RestoreJob> = {},
  ): RestoreJob {
    return {
      do: "restore",
      store: target,
      key,
      sha256,
      targetVersion,
      member: { name, peerUrl },
      token: "restored",
      dataDir,
      bumpRevision: 0,
      stalledAfterSeconds: 30,
      ...changes,
    };
  }
}
