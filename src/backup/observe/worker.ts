// Reduces the pod of a worker to what the planner needs: whether it waits and for what, runs, or has ended with which result.
import type { ContainerStatus } from "kubernetes-types/core/v1.js";
import type { Pod } from "../../kube/objects/kinds.ts";
import { type Job, jobVariable, type Result } from "../../worker/job.ts";
import { resultOf, workerContainerName } from "../../worker/pod.ts";
import { generationAnnotation } from "../objects/worker-pods.ts";
import { restoreContainerName } from "../objects/verify-pod.ts";
import type { Stuck, Worker, WorkerState } from "./view.ts";

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
  if (!statusesOf(pod).some(({ state }) => state?.running !== undefined || state?.terminated !== undefined))
    return { t: "waiting", stuck: stuck ?? silence(pod) };
  return { t: "running", ...(stuck !== undefined && { stuck }) };
}

const hasEnded = ({ status }: Pod): boolean => status?.phase === "Failed" || status?.phase === "Succeeded";

function endOf(pod: Pod): Result | undefined {
  const restored = resultOf(pod, restoreContainerName);
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
    reason === "DeadlineExceeded" ? "It took longer than spec.worker.deadlineSeconds allows." : "It is tried again.";
  return `Kubernetes ended the worker pod (${withWords(reason, message)}). ${advice}`;
}

const statusesOf = ({ status }: Pod): ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

const imageReasons: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "ErrImageNeverPull",
  "ImageInspectError",
  "RegistryUnavailable",
  "SignatureValidationFailed",
  "InvalidImageName",
]);
const ordinary: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);

function stuckOn(pod: Pod): Stuck | undefined {
  const name = pod.metadata?.name ?? "";
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False")
    return {
      by: "told",
      because: `No node takes the worker pod ${name} (${withWords(scheduled.reason ?? "Unschedulable", scheduled.message)}): change spec.worker.nodeSelector, affinity, tolerations or resources, or give a node what is asked for.`,
    };
  for (const { name: container, image, state } of statusesOf(pod)) {
    const { reason, message } = state?.waiting ?? {};
    if (reason === undefined || ordinary.has(reason)) continue;
    if (imageReasons.has(reason)) return { by: "told", because: imageAdvice(name, container, image) };
    return {
      by: "told",
      because: `The container ${container} of the worker pod ${name} cannot start (${withWords(reason, message)}): correct what it names, in the spec or in the Secret; \`kubectl describe pod ${name}\` says more.`,
    };
  }
  return undefined;
}

/** The kubelet has two reasons that take turns, each with words of its own: said in ours, it stays the same. */
function imageAdvice(pod: string, container: string, image: string): string {
  const whose =
    container === workerContainerName || container === restoreContainerName
      ? "the nodes must be able to pull the operator's image"
      : "set spec.verify.image to an image that exists and that the nodes can pull";
  return `The image ${image} of the worker pod ${pod} cannot be pulled: ${whose}; where its registry asks who they are, set spec.worker.imagePullSecrets. \`kubectl describe pod ${pod}\` says more.`;
}

/** A Secret or claim that is missing shows in events of the pod only: the pod just stays in ContainerCreating. */
function silence(pod: Pod): Stuck {
  const name = pod.metadata?.name ?? "";
  const needs = (pod.spec?.volumes ?? []).flatMap(({ secret, persistentVolumeClaim }) => {
    if (secret?.secretName !== undefined) return [`the Secret ${secret.secretName}`];
    return persistentVolumeClaim === undefined ? [] : [`the PersistentVolumeClaim ${persistentVolumeClaim.claimName}`];
  });
  const first = `The worker pod ${name} does not start.`;
  const last = `\`kubectl describe pod ${name}\` says more.`;
  if (needs.length === 0) return { by: "silent", because: `${first} ${last}` };
  const namespace = pod.metadata?.namespace ?? "";
  return {
    by: "silent",
    because: `${first} It needs ${needs.join(" and ")} in the namespace ${namespace}: see that they exist, or correct their names in the spec. ${last}`,
  };
}

function withWords(reason: string, message: string | undefined): string {
  const words = message?.trim().replace(/\.+$/, "") ?? "";
  return words === "" ? reason : `${reason}: ${words}`;
}

function jobIn(pod: Pod): Job | undefined {
  const container = pod.spec?.containers.find(({ name }) => name === workerContainerName);
  const text = container?.env?.find(({ name }) => name === jobVariable)?.value;
  try {
    // The operator wrote it, and nobody can change the environment of a pod.
    return text === undefined ? undefined : (JSON.parse(text) as Job);
  } catch {
    return undefined;
  }
}

/** What the cache keeps of the pod of a worker. */
export function leanWorker(pod: Pod): Pod {
  const { nodeName, volumes = [], containers = [] } = pod.spec ?? {};
  const { phase, reason, message, conditions, containerStatuses, initContainerStatuses } = pod.status ?? {};
  const worker = containers.find(({ name }) => name === workerContainerName);
  const env = worker?.env?.filter(({ name }) => name === jobVariable) ?? [];
  return {
    ...pod,
    spec: {
      containers: worker === undefined ? [] : [{ name: worker.name, env }],
      volumes: volumes.filter(({ secret, persistentVolumeClaim }) => secret ?? persistentVolumeClaim),
      ...(nodeName !== undefined && { nodeName }),
    },
    status: {
      ...(phase !== undefined && { phase }),
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
      ...(conditions !== undefined && { conditions }),
      ...(containerStatuses !== undefined && { containerStatuses }),
      ...(initContainerStatuses !== undefined && { initContainerStatuses }),
    },
  };
}
