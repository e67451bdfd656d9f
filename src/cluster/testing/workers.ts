// The pods of workers in an in-memory Kubernetes: each starts, takes its time and does what it is told, with the etcd that
// runs there and with the store. The init container of a restored seed does its work here, too.
import type { ContainerStatus } from "kubernetes-types/core/v1.js";
import { type Clock, pause } from "../../kube/clock.ts";
import { isConflict, isNotFound } from "../../kube/client/errors.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import type { FinishedCall } from "../../kube/testing/fake-api/calls.ts";
import type { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import { type BackupJob, type Done, type Job, type RestoreJob, type Result } from "../../worker/job.ts";
import { jobIn, workerContainerName, workerLabels, restoreContainer } from "../../worker/pod.ts";
import { initialStateAnnotation } from "../objects/first-start.ts";
import { Backups } from "./backups.ts";
import type { Etcds, Restored } from "./kubelet/etcds.ts";

/** Milliseconds. */
const times = { start: 700, work: 1500, stop: 1000 } as const;

const isMissing = { ok: false, code: "notFound", message: "There is no such backup." } as const;

export interface WorkersOptions {
  readonly api: FakeApi;
  readonly clock: Clock;
  readonly now: () => number;
  readonly etcds: Etcds;
}

/** What became of the init container of a seed. */
export interface Prepared {
  readonly result: Result;
  readonly restored: Restored | undefined;
}

export class Workers {
  readonly backups = new Backups();
  /** What pods were told, in the order in which they ended. */
  readonly done: Job[] = [];
  readonly #options: WorkersOptions;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  async heard(pod: Pod, verb: FinishedCall["verb"]): Promise<void> {
    if (verb === "create") return this.#run(pod);
    if (verb === "delete") return this.#stop(pod);
  }

  /** The init container of a seed; undefined: the pod has none. */
  prepare(pod: Pod, hasData: boolean): Prepared | undefined {
    const job = jobIn(pod, restoreContainer);
    if (job?.do !== "restore") return undefined;
    const mayRestore = pod.metadata?.annotations?.[initialStateAnnotation] === "new";
    if (hasData) return { result: { ok: true, did: { do: "restore", restored: false } }, restored: undefined };
    if (!mayRestore) {
      const message = "This member has started before and its data is gone.";
      return { result: { ok: false, code: "failed", message }, restored: undefined };
    }
    return this.#restore(job);
  }

  #restore(job: RestoreJob): Prepared {
    const found = this.backups.at(job.key);
    if (found === undefined) return { result: isMissing, restored: undefined };
    const { facts, content } = found;
    if (facts.sha256 !== job.sha256) {
      const message = "It is another object than the one that was checked.";
      return { result: { ok: false, code: "damaged", message }, restored: undefined };
    }
    this.done.push(job);
    return {
      result: { ok: true, did: { do: "restore", restored: true, backup: facts } },
      restored: {
        content,
        bump: job.bumpRevision,
        token: job.token,
        initialCluster: job.initialCluster ?? [],
      },
    };
  }

  async #run(pod: Pod): Promise<void> {
    const job = jobIn(pod, workerContainerName);
    if (job === undefined) return;
    await this.#pass(times.start);
    await this.#patch(pod, { phase: "Running", containerStatuses: [statusOf({ running: {} })] });
    await this.#pass(times.work);
    if (!(await this.#isThere(pod))) return;
    const result = this.#do(job);
    const state = { terminated: { exitCode: result.ok ? 0 : 1, message: JSON.stringify(result) } };
    // The etcd beside a verification does not end.
    const phase = job.do === "verify" ? "Running" : result.ok ? "Succeeded" : "Failed";
    await this.#patch(pod, { phase, containerStatuses: [statusOf(state)] });
  }

  #do(job: Job): Result {
    this.done.push(job);
    if (job.do === "backup") return this.#backup(job);
    if (job.do === "check") {
      const found = this.backups.choose(job.choice);
      return found === undefined ? isMissing : ok({ do: "check", backup: found.facts });
    }
    if (job.do === "delete") return ok({ do: "delete", deleted: this.backups.drop(job.owner), locked: 0 });
    const revision = job.do === "verify" ? (this.backups.at(job.key)?.facts.revision ?? 0) : 0;
    return ok({ do: "verify", revision, comparedHash: false });
  }

  #backup(job: BackupJob): Result {
    const etcd = this.#options.etcds.current(job.owner.namespace);
    if (etcd === undefined || !etcd.decides) return { ok: false, code: "etcd", message: "etcd does not answer." };
    const content = etcd.store.copy();
    const { path } = job.key;
    const facts = this.backups.keep(content, {
      key: job.key.t === "once" ? path : `${path}_v${content.revision}_${job.startedAt}`,
      takenAt: new Date(this.#options.now()).toISOString(),
      clusterId: etcd.clusterId,
      members: etcd.members.length,
      owner: job.owner,
    });
    return ok({ do: "backup", backup: facts, durationMs: 10, deleted: 0, count: this.backups.keys.length });
  }

  async #stop(pod: Pod): Promise<void> {
    await this.#pass(times.stop);
    const { uid = "" } = pod.metadata ?? {};
    await this.#options.api.delete(Pod, keyOf(pod), { uid, gracePeriodSeconds: 0 }).catch(unlessGone);
  }

  async #isThere({ metadata }: Pod): Promise<boolean> {
    const live = await this.#options.api.get(Pod, keyOf({ metadata: metadata ?? {} })).catch(unlessGone);
    return live?.metadata?.uid === metadata?.uid && live?.metadata?.deletionTimestamp === undefined;
  }

  async #patch(pod: Pod, status: object): Promise<void> {
    if (!(await this.#isThere(pod))) return;
    await this.#options.api.mergePatch(Pod, keyOf(pod), { status }, { subresource: "status" }).catch(unlessGone);
  }

  #pass(ms: number): Promise<unknown> {
    return pause(this.#options.clock, ms, new AbortController().signal);
  }
}

export const isWorker = ({ metadata }: Pod): boolean => metadata?.labels?.["app"] === workerLabels.app;

const ok = (did: Done): Result => ({ ok: true, did });

export const statusOf = (state: object, name: string = workerContainerName): ContainerStatus => ({
  name,
  image: "worker",
  imageID: "worker",
  ready: false,
  restartCount: 0,
  state,
});

function unlessGone(error: unknown): undefined {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}
