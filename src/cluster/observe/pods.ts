// A pod of Kubernetes as the planner sees it: which of the few states that matter it is in, in whose words, and whether
// its node is still there.
import type { ContainerStatus } from "kubernetes-types/core/v1.js";
import type { Node, Pod } from "../../kube/objects/kinds.ts";
import type { StoreView } from "../../kube/cache/store.ts";
import { dataVolume, etcdContainer, settingsAnnotation, versionAnnotation } from "../objects/member-pod.ts";
import { hasItsLabels } from "../objects/pod-labels.ts";
import { endProblem, schedulingProblem, sentence, waitingProblem } from "./pod-problems.ts";
import type { MemberPod, PodNode, PodState } from "./world.ts";

export function observedPod(pod: Pod, nodes: StoreView<Node> | undefined): MemberPod {
  const { name = "", uid = "", creationTimestamp, deletionTimestamp, annotations } = pod.metadata ?? {};
  const state = stateOf(pod);
  const madeFrom = annotations?.[settingsAnnotation];
  return {
    name,
    uid,
    createdAt: time(creationTimestamp) ?? 0,
    terminating: deletionTimestamp !== undefined,
    state,
    ready: conditionOf(pod, "Ready")?.status === "True",
    ...(wasReadyOnce(pod) && { readyOnce: true }),
    labelled: hasItsLabels(pod),
    address: state.t === "ended" ? undefined : pod.status?.podIP || undefined,
    node: nodeOf(pod, nodes),
    version: annotations?.[versionAnnotation] ?? "",
    ...(madeFrom !== undefined && { madeFrom }),
    ...joinsWith(pod),
    hasVolume: pod.spec?.volumes?.some((v) => v.name === dataVolume && v.persistentVolumeClaim !== undefined) ?? false,
  };
}

function stateOf(pod: Pod): PodState {
  const { phase, reason, message } = pod.status ?? {};
  if (phase === "Failed" || phase === "Succeeded")
    return { t: "ended", problem: sentence(reason ?? `phase ${phase}`, message) };
  if (!pod.spec?.nodeName) return pending(pod);
  const container = pod.status?.containerStatuses?.find((status) => status.name === etcdContainer);
  if (container?.state?.running !== undefined) return running(pod, container);
  if (container !== undefined && hasEnded(container)) return crashing(pod, container);
  return { t: "starting", ...waitingProblem(container?.state?.waiting ?? {}) };
}

/** `started` is the start-up probe's word. Without one, as in pods of 2018, it is true at once. */
function running(pod: Pod, { restartCount: restarts, started, state }: ContainerStatus): PodState {
  const since = time(state?.running?.startedAt);
  return {
    t: "running",
    restarts,
    ...(since !== undefined && { since }),
    ...(started === false && !wasReadyOnce(pod) && { unheard: true }),
  };
}

/**
 * A kubelet sets all conditions one after the other when it first sees a pod, perhaps across the turn of a second. If
 * this one has moved since, it was true once, through whatever restarts.
 */
function wasReadyOnce(pod: Pod): boolean {
  const [ready, first] = [conditionOf(pod, "Ready"), conditionOf(pod, "Initialized")];
  if (ready?.status === "True") return true;
  const [moved, made] = [time(ready?.lastTransitionTime), time(first?.lastTransitionTime)];
  return moved !== undefined && made !== undefined && moved - made > 1000;
}

function pending(pod: Pod): PodState {
  const scheduled = conditionOf(pod, "PodScheduled");
  if (scheduled?.status !== "False") return { t: "pending" };
  return { t: "pending", ...schedulingProblem(scheduled.reason, scheduled.message) };
}

const hasEnded = (container: ContainerStatus): boolean =>
  container.state?.terminated !== undefined || container.lastState?.terminated !== undefined;

function crashing(pod: Pod, container: ContainerStatus): PodState {
  const ended = container.state?.terminated ?? container.lastState?.terminated;
  // Nothing tells when a row of crashes began, but the container has not been ready since then.
  const unready = conditionOf(pod, "ContainersReady");
  const since = unready?.status === "False" ? time(unready.lastTransitionTime) : time(ended?.finishedAt);
  return {
    t: "crashing",
    since: since ?? time(pod.metadata?.creationTimestamp) ?? 0,
    restarts: container.restartCount,
    ...endProblem(ended),
  };
}

function nodeOf(pod: Pod, nodes: StoreView<Node> | undefined): PodNode {
  const name = pod.spec?.nodeName;
  if (!name) return { t: "none" };
  if (nodes === undefined) return { t: "ready", name };
  const node = nodes.get({ namespace: "", name });
  if (node === undefined) return { t: "gone", name };
  const ready = node.status?.conditions?.find((condition) => condition.type === "Ready");
  // False is still a kubelet's word; Unknown is what others write when it says nothing any more.
  if (ready?.status !== "Unknown") return { t: "ready", name };
  return { t: "silent", name, since: time(ready.lastTransitionTime) ?? 0 };
}

const initialCluster = "--initial-cluster=";

/** The argument, as the pod was made with it. */
function listOf(pod: Pod): string | undefined {
  const container = pod.spec?.containers.find(({ name }) => name === etcdContainer);
  return container?.command?.find((argument) => argument.startsWith(initialCluster));
}

function joinsWith(pod: Pod): { joinsWith?: string[] } {
  const list = listOf(pod)?.slice(initialCluster.length);
  if (list === undefined) return {};
  return { joinsWith: list.split(",").map((entry) => entry.slice(entry.indexOf("=") + 1)) };
}

function conditionOf(pod: Pod, type: string) {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

function time(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** What the cache keeps of a pod: the rest of it is several times as large, and nobody reads it. */
export function leanPod(pod: Pod): Pod {
  const { nodeName, volumes = [] } = pod.spec ?? {};
  const { phase, reason, message, podIP, conditions, containerStatuses } = pod.status ?? {};
  const list = listOf(pod);
  return {
    ...pod,
    spec: {
      containers: list === undefined ? [] : [{ name: etcdContainer, command: [list] }],
      volumes: volumes.filter((volume) => volume.name === dataVolume),
      ...(nodeName !== undefined && { nodeName }),
    },
    status: {
      ...(phase !== undefined && { phase }),
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
      ...(podIP !== undefined && { podIP }),
      ...(conditions !== undefined && { conditions }),
      ...(containerStatuses !== undefined && { containerStatuses }),
    },
  };
}

/** What the cache keeps of a node: a large cluster has thousands, each with pages of images and conditions. */
export function leanNode(node: Node): Node {
  const { name = "", uid = "", resourceVersion = "" } = node.metadata ?? {};
  const conditions = (node.status?.conditions ?? [])
    .filter((condition) => condition.type === "Ready")
    .map(({ type, status, lastTransitionTime }) => ({
      type,
      status,
      ...(lastTransitionTime && { lastTransitionTime }),
    }));
  return { metadata: { name, uid, resourceVersion }, status: { conditions } };
}
