// The pod of a worker, and the container alone for pods that have others. It passes the restricted Pod Security profile
// and has no way to Kubernetes: what it found comes back as its termination message.
import type { Container, ContainerStateTerminated, ContainerStatus, PodSpec } from "kubernetes-types/core/v1.js";
import type { WorkerPolicy } from "../api/backups/worker-policy.ts";
import type { Pod } from "../kube/objects/kinds.ts";
import type { OwnerReference } from "../kube/objects/objects.ts";
import { printableLine } from "../kube/objects/printable.ts";
import { type Job, jobVariable, type Result } from "./job.ts";
import { limited, scratchOf } from "./scratch.ts";
import { type Mount, volumeMountsOf, volumesOf } from "./mounts.ts";
import { defined } from "../defined.ts";

export const workerContainerName = "worker";
/** The init container that makes the data of a member from a backup. */
export const restoreContainer = "restore";
/** Room for a file of the size of the database. */
export const scratchVolume = "scratch";
const scratchFolder = "/scratch";

/** What the caches select by; `etcd_backup` or `etcd_restore` says whose it is. */
export const workerLabels = { app: "etcd-worker" } as const;

/** A job, and what its worker has to mount for it. */
export interface WorkerTask<J extends Job = Job> {
  readonly job: J;
  readonly mounts: readonly Mount[];
}

interface WorkerContainer extends WorkerTask {
  readonly image: string;
  readonly resources?: WorkerPolicy["resources"];
  readonly scratchSize?: WorkerPolicy["scratchSize"];
  readonly name?: string;
}

export function workerContainer({ image, job, mounts, resources, scratchSize, name }: WorkerContainer): Container {
  return {
    name: name ?? workerContainerName,
    image,
    command: ["/usr/local/bin/etcd-worker"],
    env: [
      { name: jobVariable, value: JSON.stringify(job) },
      { name: "ETCD_WORKER_SCRATCH", value: scratchFolder },
      { name: "ETCD_WORKER_SCRATCH_BYTES", value: String(scratchOf(job, { scratchSize })) },
    ],
    volumeMounts: [...volumeMountsOf(mounts), { name: scratchVolume, mountPath: scratchFolder }],
    terminationMessagePolicy: "File",
    securityContext: containerSecurity,
    ...(resources !== undefined && { resources }),
  };
}

export const containerSecurity: NonNullable<Container["securityContext"]> = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

interface WorkerPod extends WorkerContainer {
  readonly namespace: string;
  readonly podName: string;
  readonly owner: OwnerReference;
  readonly labels: Readonly<Record<string, string>>;
  readonly policy: WorkerPolicy;
}

export function workerPod(worker: WorkerPod): Pod {
  const { namespace, podName, owner, labels, policy, job } = worker;
  const { resources, scratchSize } = policy;
  return {
    metadata: {
      name: podName,
      namespace,
      labels: { ...policy.labels, ...workerLabels, ...labels },
      ...(policy.annotations !== undefined && { annotations: { ...policy.annotations } }),
      ownerReferences: [owner],
    },
    spec: {
      ...podBasics(policy),
      containers: [workerContainer({ ...worker, resources, scratchSize })],
      volumes: [...volumesOf(worker.mounts), { name: scratchVolume, emptyDir: limited(scratchOf(job, policy)) }],
    },
  };
}

const nobody = 65_532;

/** Shared with pods that have more containers. */
export function podBasics(policy: WorkerPolicy): Omit<PodSpec, "containers"> {
  const { serviceAccountName, nodeSelector, affinity, tolerations, priorityClassName, imagePullSecrets } = policy;
  return {
    restartPolicy: "Never",
    // Clouds bring their own token by a webhook or by the node; Kubernetes' own is of no use to a worker.
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: nobody,
      runAsGroup: nobody,
      fsGroup: nobody,
      seccompProfile: { type: "RuntimeDefault" },
    },
    terminationGracePeriodSeconds: 10,
    ...(policy.deadlineSeconds > 0 && { activeDeadlineSeconds: policy.deadlineSeconds }),
    ...defined({ serviceAccountName, nodeSelector, affinity, tolerations, priorityClassName, imagePullSecrets }),
  };
}

/** The result of a container that has ended; undefined when it has not. A message that cannot be read is a failure. */
export function resultOf(pod: Pod, container: string = workerContainerName): Result | undefined {
  return readEnd(statusOf(pod, container)?.state?.terminated);
}

/** Also of a container that is tried again: what it said when it last ended, and how often it has been started again. */
export function lastResultOf(pod: Pod, container: string): { result: Result; restarts: number } | undefined {
  const status = statusOf(pod, container);
  const result = readEnd(status?.state?.terminated ?? status?.lastState?.terminated);
  return result && { result, restarts: status?.restartCount ?? 0 };
}

export const statusesOf = ({ status }: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

const statusOf = (pod: Pod, container: string): ContainerStatus | undefined =>
  statusesOf(pod).find(({ name }) => name === container);

/** The job of a container. Undefined: it has none, or it cannot be read. */
export function jobIn({ spec }: Pod, container: string = workerContainerName): Job | undefined {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const { env } = all.find(({ name }) => name === container) ?? {};
  const text = env?.find(({ name }) => name === jobVariable)?.value;
  try {
    // The operator wrote it, and nobody can change the environment of a pod.
    return text === undefined ? undefined : (JSON.parse(text) as Job);
  } catch {
    return undefined;
  }
}

function readEnd(ended: ContainerStateTerminated | null | undefined): Result | undefined {
  if (ended === undefined || ended === null) return undefined;
  return parseResult(ended.message ?? "") ?? { ok: false, code: "failed", message: withoutWord(ended) };
}

function withoutWord({ exitCode, reason }: { exitCode?: number; reason?: string }): string {
  if (reason === "OOMKilled") return "The worker ran out of memory: raise spec.worker.resources.limits.memory.";
  const why = reason === undefined ? "" : `, ${printableLine(reason)}`;
  return `The worker ended without a result (exit code ${exitCode ?? "unknown"}${why}): see its log.`;
}

export function parseResult(text: string): Result | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isResult(parsed) ? printableResult(parsed) : undefined;
  } catch {
    return undefined;
  }
}

/** Its sentences quote stores and etcd. */
function printableResult(result: Result): Result {
  if (!result.ok) return { ...result, message: printableLine(result.message) };
  const { did } = result;
  if (did.do !== "backup") return result;
  const { kept, held } = did;
  const sentences = {
    ...(kept !== undefined && { kept: printableLine(kept) }),
    ...(held !== undefined && { held: printableLine(held) }),
  };
  return { ok: true, did: { ...did, ...sentences } };
}

function isResult(value: unknown): value is Result {
  if (typeof value !== "object" || value === null || !("ok" in value)) return false;
  return value.ok === true ? "did" in value : "message" in value && typeof value.message === "string";
}
