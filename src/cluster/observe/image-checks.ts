// Reduces a pod that proves an image to what came of it.
import type { Pod } from "../../kube/objects/kinds.ts";
import { foundVersionAnnotation } from "../objects/image-check.ts";
import { etcdContainer } from "../objects/member-pod.ts";
import { observedPod } from "./pods.ts";
import type { ImageCheck, ImageCheckState } from "./world.ts";

export function observedImageCheck(pod: Pod): ImageCheck {
  const { name, uid, createdAt, terminating, image } = observedPod(pod, undefined);
  return { name, uid, createdAt, terminating, image, node: pod.spec?.nodeName ?? "", state: stateOf(pod) };
}

function stateOf(pod: Pod): ImageCheckState {
  const version = pod.metadata?.annotations?.[foundVersionAnnotation];
  if (version === "") return { t: "failed", problem: "the program in it does not say which version of etcd it is" };
  if (version !== undefined) return { t: "found", version };
  // The kubelet reports the container before the phase of its pod.
  const exitCode = endOf(pod)?.exitCode;
  if (pod.status?.phase === "Succeeded" || exitCode === 0) return { t: "ended" };
  const { state } = observedPod(pod, undefined);
  // Only the kubelet gives a pod a reason: OutOfcpu, OutOfpods, NodeAffinity, Evicted, Preempting, Terminated.
  const isRejected = state.t === "ended" && (pod.status?.reason !== undefined || exitCode === undefined);
  if (isRejected) return { t: "rejected", problem: state.problem };
  if (state.t === "ended" || state.t === "crashing") return { t: "failed", problem: checkProblem(pod, state.problem) };
  const { problem, advice } = { problem: undefined, advice: undefined, ...state };
  return { t: "running", ...(problem !== undefined && { problem }), ...(advice !== undefined && { advice }) };
}

/** Others may have put containers beside it. */
const endOf = ({ status }: Pod) =>
  status?.containerStatuses?.find(({ name }) => name === etcdContainer)?.state?.terminated;

/** A pod that failed says less than its container. */
function checkProblem(pod: Pod, otherwise: string): string {
  const { exitCode, reason, message } = endOf(pod) ?? {};
  if (exitCode === undefined) return otherwise;
  return `etcd --version ended with exit code ${exitCode}${message ? `: ${message.trim()}` : reason ? ` (${reason})` : ""}`;
}
