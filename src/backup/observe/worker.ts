// Reduces the pod of a worker to what the planner needs: whether it waits and for what, runs, or has ended with which result.
import type { Pod } from "../../kube/objects/kinds.ts";
import { jobVariable, type Result } from "../../worker/job.ts";
import { jobIn, resultOf, statusesOf, workerContainerName } from "../../worker/pod.ts";
import { adviceOnEviction } from "../../worker/scratch.ts";
import { stuckOn, wordsOf } from "../../worker/trouble.ts";
import { generationAnnotation } from "../objects/worker-pods.ts";
import { restoreContainerName } from "../objects/verify-pod.ts";
import type { RunWorker, WorkerState } from "./world.ts";
import { leanStatus } from "../../controllers/lean-pod.ts";

export function observedWorker(pod: Pod): RunWorker {
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
  if (stuck !== undefined && !hasStarted(pod)) return { t: "waiting", stuck };
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
    reason === "DeadlineExceeded"
      ? "It took longer than spec.worker.deadlineSeconds allows."
      : (adviceOnEviction(reason, message ?? "") ?? "It is tried again.");
  return `Kubernetes ended the worker pod (${wordsOf({ reason, message })}). ${advice}`;
}

const hasStarted = (pod: Pod): boolean =>
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
