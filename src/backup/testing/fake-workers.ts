// A kubelet for the pods of workers, and the store that they would write to: each pod starts, takes its time and ends with
// what the test says, by default with success. In a `world` they do the real work, on an etcd and a store in memory.
import assert from "node:assert/strict";
import type { ContainerStatus } from "kubernetes-types/core/v1.js";
import type { Clock } from "../../kube/clock.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { type Key, keyOf, keyText } from "../../kube/objects/objects.ts";
import { systemClock } from "../../kube/clock.ts";
import { silent } from "../../kube/process/log.ts";
import type { EtcdMember } from "../../etcd/member.ts";
import type { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import type { ObjectStore } from "../../store/store.ts";
import { runJob } from "../../worker/program/run-job.ts";
import { type BackupFacts, type BackupJob, type Job, jobVariable, type Result } from "../../worker/job.ts";

/** What becomes of a pod. */
export type Fortune =
  | { readonly t: "ends"; readonly result: Result }
  /** It never ends by itself. */
  | { readonly t: "runs" }
  /** It never starts. */
  | { readonly t: "waits"; readonly reason: string }
  /** No node takes it. */
  | { readonly t: "unscheduled" }
  /** Kubernetes ends it. */
  | { readonly t: "evicted" };

interface Works {
  readonly t: "works";
  readonly world: WorkersWorld;
}

/** By what the pod is told, and how many were told the same before. */
export type Fate = (job: Job, nth: number) => Fortune | undefined;

/** What real workers work on. */
interface WorkersWorld {
  readonly store: ObjectStore;
  /** Whoever listens at a client URL now. */
  readonly memberAt: (url: string) => EtcdMember;
  /** How far the clocks of workers are from the operator's, in milliseconds. */
  readonly skewMs: () => number;
}

const startMs = 700;
const workMs = 3_000;
const stopMs = 1_000;

export class FakeWorkers {
  /** Objects by key. */
  readonly stored = new Map<string, BackupFacts>();
  /** What pods were told, in the order in which they were made. */
  readonly jobs: Job[] = [];
  /** Set by tests; undefined: success. */
  fate: Fate = () => undefined;
  /** Undefined: success is made up. */
  world: WorkersWorld | undefined;
  /** False: the node is lost, and nobody reports that a deleted pod has ended. */
  stops = true;
  /** As many as ever ran side by side. */
  most = 0;
  readonly #api: FakeApi;
  readonly #clock: Clock;
  readonly #now: () => number;
  readonly #alive = new Set<string>();

  constructor(api: FakeApi, clock: Clock, now: () => number) {
    this.#api = api;
    this.#clock = clock;
    this.#now = now;
    api.onWrite(({ verb, kind, object }) => {
      if (kind !== Pod.kind || object === undefined) return;
      // It is of the kind that was asked for.
      if (verb === "create") this.#made(object as Pod);
      if (verb === "delete") this.#deleted(keyOf(object));
    });
  }

  /** As many as were told this. */
  count(what: Job["do"]): number {
    return this.jobs.filter((job) => job.do === what).length;
  }

  /** As many as run now. */
  get running(): number {
    return this.#alive.size;
  }

  #made(pod: Pod): void {
    const container = pod.spec?.containers.find(({ name }) => name === "worker");
    const job = JSON.parse(container?.env?.find(({ name }) => name === jobVariable)?.value ?? "null") as Job;
    const nth = this.count(job.do);
    this.jobs.push(job);
    const told = this.fate(job, nth);
    const { world } = this;
    const fortune = told ?? (world === undefined ? { t: "ends", result: this.#success(job) } : { t: "works", world });
    const key = keyOf(pod);
    const { uid = "" } = pod.metadata ?? {};
    this.#clock.after(startMs, () => void this.#start(key, uid, fortune, job));
  }

  async #start(key: Key, uid: string, fortune: Fortune | Works, job: Job): Promise<void> {
    const pod = await this.#api.get(Pod, key).catch(() => undefined);
    // It was deleted before it started.
    if (pod?.metadata?.uid !== uid || pod.metadata.deletionTimestamp !== undefined) return;
    if (fortune.t === "unscheduled") {
      const scheduled = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes fit" };
      return await this.#patch(key, { phase: "Pending", conditions: [scheduled] });
    }
    await this.#api.mergePatch(Pod, key, { spec: { nodeName: "node-1" } }).catch(() => undefined);
    if (fortune.t === "waits") {
      const state = { waiting: { reason: fortune.reason } };
      return await this.#patch(key, { phase: "Pending", containerStatuses: [statusOf("worker", state)] });
    }
    this.#alive.add(keyText(key));
    this.most = Math.max(this.most, this.#alive.size);
    await this.#patch(key, { phase: "Running", containerStatuses: statuses(job, { running: {} }) });
    if (fortune.t === "runs") return;
    this.#clock.after(workMs, () => void this.#end(key, fortune, job));
  }

  async #work(job: Job, { store, memberAt, skewMs }: WorkersWorld): Promise<Result> {
    return await runJob(job, {
      log: silent,
      clock: systemClock,
      signal: new AbortController().signal,
      time: () => this.#now() + skewMs(),
      openStore: async () => store,
      members: { at: ({ url }) => memberAt(url) },
      etcdutl: "etcdutl",
      scratch: "/nowhere",
      scratchBytes: 0,
      restoring: "allowed",
      place: () => ({ address: "127.0.0.1", search: [] }),
    });
  }

  async #end(key: Key, fortune: Extract<Fortune, { t: "ends" | "evicted" }> | Works, job: Job): Promise<void> {
    if (!this.#alive.delete(keyText(key))) return;
    if (fortune.t === "evicted")
      return await this.#patch(key, { phase: "Failed", reason: "Evicted", message: "The node was low on memory." });
    const result = fortune.t === "ends" ? fortune.result : await this.#work(job, fortune.world);
    if (result.ok && result.did.do === "backup") this.stored.set(result.did.backup.key, result.did.backup);
    if (result.ok && result.did.do === "delete") this.stored.clear();
    const state = { terminated: { exitCode: result.ok ? 0 : 1, message: JSON.stringify(result) } };
    // The etcd beside a verification does not end.
    const phase = job.do === "verify" ? "Running" : result.ok ? "Succeeded" : "Failed";
    await this.#patch(key, { phase, containerStatuses: statuses(job, state) });
  }

  #deleted(key: Key): void {
    if (!this.stops) return;
    this.#clock.after(stopMs, () => {
      this.#alive.delete(keyText(key));
      this.#api.delete(Pod, key, { gracePeriodSeconds: 0 }).catch(() => undefined);
    });
  }

  async #patch(key: Key, status: object): Promise<void> {
    // A pod that was deleted meanwhile has nothing to report.
    await this.#api.mergePatch(Pod, key, { status }, { subresource: "status" }).catch(() => undefined);
  }

  #success(job: Job): Result {
    switch (job.do) {
      case "backup":
        return { ok: true, did: this.#backup(job) };
      case "verify":
        return { ok: true, did: { do: "verify", revision: 100, hash: 7, comparedHash: true } };
      case "delete":
        return { ok: true, did: { do: "delete", deleted: this.stored.size, locked: 0 } };
      case "check":
      case "restore":
      case "awaitName":
        break;
    }
    return assert.fail(`no worker of an EtcdBackup does ${job.do}`);
  }

  #backup(job: BackupJob) {
    const revision = 100 + this.stored.size;
    const key = job.key.t === "once" ? job.key.path : `${job.key.path}_v${revision}_${job.startedAt}`;
    const facts: BackupFacts = {
      key,
      bytes: 1000 + revision,
      sha256: "ab".repeat(32),
      snapshotBytes: 1000,
      takenAt: new Date(this.#now()).toISOString(),
      revision,
      exactRevision: true,
      hash: { value: 7, revision, compactRevision: 1 },
      etcdVersion: "3.6.16",
      clusterId: "1",
      members: 3,
    };
    return { do: "backup", backup: facts, durationMs: 100, deleted: 0, count: this.stored.size + 1 } as const;
  }
}

function statuses(job: Job, state: object): ContainerStatus[] {
  const worker = statusOf("worker", state);
  return job.do === "verify" ? [worker, statusOf("etcd", { running: {} })] : [worker];
}

const statusOf = (name: string, state: object): ContainerStatus => ({
  name,
  image: `image-of-${name}`,
  imageID: "",
  ready: false,
  restartCount: 0,
  state,
});
