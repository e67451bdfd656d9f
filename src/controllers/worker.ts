// The pod of a worker, reduced to what a decision needs: whether it waits and for what, runs, or has ended with which result;
// and after which failures another attempt is made.
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import type { Pod } from "../kube/objects/kinds.ts";
import { type BackupFacts, type FailureCode, type Job, jobVariable, type Result } from "../worker/job.ts";
import { jobIn, restoreContainer, resultOf, statusesOf, workerContainerName } from "../worker/pod.ts";
import { adviceOnEviction } from "../worker/scratch.ts";
import { type Stuck, stuckOn, wordsOf } from "../worker/trouble.ts";
import { leanStatus } from "./caches.ts";
import { defined } from "../defined.ts";

/** On a worker: the generation of the EtcdBackup that it was made from. */
export const generationAnnotation = `${EtcdBackup.group}/generation`;

export interface Worker {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  /** The generation of the EtcdBackup that it was made from. */
  readonly generation: number;
  readonly job: Job | undefined;
  readonly state: WorkerState;
  /** It was deleted, and is to be gone by this time. */
  readonly goneBy?: number;
}

type WorkerState =
  /** No container has started. */
  | { readonly t: "waiting"; readonly stuck: Stuck }
  /** `stuck`: another of its containers does not start. */
  | { readonly t: "running"; readonly stuck?: Stuck }
  /** `left`: its containers have all ended, and it costs nothing; or one goes on for ever, as the etcd of a verification. */
  | { readonly t: "ended"; readonly result: Result; readonly left: "nothing" | "containers" };

/** How an attempt ends whose pod is gone. */
export const lostResult = (name: string): Extract<Result, { ok: false }> => ({
  ok: false,
  code: "failed",
  message: `The worker pod ${name} was deleted, or its node was lost, before it ended.`,
});

export type WorkerAction =
  | { readonly do: "createWorker"; readonly pod: Pod }
  | { readonly do: "deleteWorker"; readonly name: string; readonly uid: string; readonly because: string };

export function observedWorker(pod: Pod): Worker {
  const { name = "", uid = "", creationTimestamp = "", deletionTimestamp, annotations } = pod.metadata ?? {};
  return {
    name,
    uid,
    createdAt: Date.parse(creationTimestamp) || 0,
    generation: Number(annotations?.[generationAnnotation] ?? 0),
    job: jobIn(pod),
    state: stateOf(pod),
    ...(deletionTimestamp !== undefined && { goneBy: Date.parse(deletionTimestamp) }),
  };
}

function stateOf(pod: Pod): WorkerState {
  const result = endOf(pod);
  if (result !== undefined) return { t: "ended", result, left: hasEnded(pod) ? "nothing" : "containers" };
  const stuck = stuckOn(pod);
  if (stuck !== undefined && !containerStarted(pod)) return { t: "waiting", stuck };
  return { t: "running", ...(stuck !== undefined && { stuck }) };
}

const hasEnded = ({ status }: Pod): boolean => status?.phase === "Failed" || status?.phase === "Succeeded";

function endOf(pod: Pod): Result | undefined {
  const restored = resultOf(pod, restoreContainer);
  const said = restored?.ok === false ? restored : resultOf(pod, workerContainerName);
  if (said?.ok === true) return said;
  const { reason, message } = pod.status ?? {};
  // What Kubernetes did to the pod explains more than what became of the program in it.
  if (hasEnded(pod) && (reason !== undefined || said === undefined))
    return { ok: false, code: "failed", message: endedBy(reason ?? "it ended without a result", message) };
  if (said === undefined) return undefined;
  const stuck = stuckOn(pod);
  return stuck === undefined ? said : { ...said, message: `${said.message} ${stuck.because}` };
}

function endedBy(reason: string, message: string | undefined): string {
  const advice =
    reason === "DeadlineExceeded"
      ? "It took longer than spec.worker.deadlineSeconds allows."
      : (adviceOnEviction(reason, message ?? "") ?? "");
  return `Kubernetes ended the worker pod (${wordsOf({ reason, message })}). ${advice}`.trimEnd();
}

const containerStarted = (pod: Pod): boolean =>
  statusesOf(pod).some(({ state }) => state?.running !== undefined || state?.terminated !== undefined);

/** What the cache keeps of the pod of a worker. */
export function leanWorker(pod: Pod): Pod {
  const { nodeName, volumes = [], containers = [] } = pod.spec ?? {};
  const worker = containers.find(({ name }) => name === workerContainerName);
  const env = worker?.env?.filter(({ name }) => name === jobVariable) ?? [];
  return {
    ...pod,
    spec: {
      containers: worker === undefined ? [] : [{ name: worker.name, env }],
      volumes: volumes.filter(({ secret, persistentVolumeClaim }) => secret ?? persistentVolumeClaim),
      ...(nodeName !== undefined && { nodeName }),
    },
    status: leanStatus(pod),
  };
}

export const mostAttempts = 5;

/**
 * Whether another attempt may end otherwise. The rest is about the backup, its key or a setting, and stays as it is until
 * somebody changes it. `dataExists` is one of these: no worker removes files that it did not make, and the next attempt, on
 * the same volume, finds them again.
 */
const failures: Readonly<Record<FailureCode, "transient" | "definite">> = {
  store: "transient",
  etcd: "transient",
  stalled: "transient",
  failed: "transient",
  notFound: "definite",
  damaged: "definite",
  tampered: "definite",
  wrongKey: "definite",
  keyMissing: "definite",
  newerVersion: "definite",
  dataExists: "definite",
  misconfigured: "definite",
};

/** A worker of another release may give a code that this one does not know: it is tried again. */
export const isDefinite = (code: FailureCode): boolean => failures[code] === "definite";

/** What a status says of a backup. */
export function factsInStatus(facts: BackupFacts, path: string) {
  const { hash, storageVersion, keyId, auth } = facts;
  return {
    path,
    takenAt: facts.snapshotAt ?? facts.takenAt,
    sizeBytes: facts.bytes,
    revision: facts.revision,
    sha256: facts.sha256,
    etcdVersion: facts.etcdVersion,
    ...(facts.clusterId !== "" && { clusterID: facts.clusterId }),
    ...defined({ hash: hash?.value, storageVersion, keyId, auth }),
  };
}
