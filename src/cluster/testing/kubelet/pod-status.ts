// The status of a member's pod as a kubelet writes it: made of what its one container is doing.
import { createHash } from "node:crypto";
import type {
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  PodCondition,
  ResourceRequirements,
} from "kubernetes-types/core/v1.js";
import type { Pod } from "../../../kube/objects/kinds.ts";
import { secondsTime } from "../../../kube/objects/objects.ts";
import { etcdContainer } from "../../objects/member-pod.ts";

/** Why a process ended. Times are in milliseconds since the epoch. */
export interface Ended {
  readonly reason: "Error" | "OOMKilled";
  readonly words: string;
  readonly at: number;
}

/** What the container is doing. */
export type Doing =
  | { readonly t: "running"; readonly since: number }
  /** Not started, or not started again, for the reason that a kubelet gives. */
  | { readonly t: "waiting"; readonly reason: string };

export interface ContainerView {
  readonly doing: Doing;
  readonly image: string;
  readonly restarts: number;
  readonly ended: Ended | undefined;
  /** The process has answered once since it was started. */
  readonly started: boolean;
  readonly ready: boolean;
  /** Its readiness gates are. */
  readonly isOpen: boolean;
  readonly resources: ResourceRequirements | undefined;
  /** Status of the init container, where there is one. */
  readonly prepared: ContainerStatus | undefined;
}

const unstarted = { doing: { t: "waiting", reason: "PodInitializing" }, restarts: 0, ended: undefined } as const;

const kubelets: ReadonlySet<string> = new Set(["PodScheduled", "Initialized", "ContainersReady", "Ready"]);

/** `before`: the status that it replaces, for the times since when conditions hold. */
export function podStatus(view: ContainerView, podIP: string, before: Pod["status"], now: number): Pod["status"] {
  const since = (type: string, status: string): PodCondition => {
    const old = before?.conditions?.find((condition) => condition.type === type);
    if (old?.status === status) return old;
    return { type, status, lastTransitionTime: secondsTime(new Date(now)) };
  };
  const ready = view.ready ? "True" : "False";
  // Its init container is tried again, and its own has not been started.
  const isPreparing = view.prepared?.state?.waiting !== undefined;
  const hasStarted = view.doing.t === "running" || view.ended !== undefined;
  return {
    phase: hasStarted && !isPreparing ? "Running" : "Pending",
    podIP,
    conditions: [
      since("PodScheduled", "True"),
      since("Initialized", isPreparing ? "False" : "True"),
      since("ContainersReady", ready),
      since("Ready", view.isOpen ? ready : "False"),
      // Those that others write stay as they are.
      ...(before?.conditions ?? []).filter(({ type }) => !kubelets.has(type)),
    ],
    ...(view.prepared !== undefined && { initContainerStatuses: [view.prepared] }),
    containerStatuses: [containerStatus(isPreparing ? { ...view, ...unstarted } : view)],
  };
}

/** By its digest, as a registry gives it out: one image has several references. */
function imageId(image: string): string {
  if (image.includes("@")) return image;
  return `${image.replace(/:[^:/]+$/, "")}@sha256:${createHash("sha256").update(image).digest("hex")}`;
}

function containerStatus(view: ContainerView): ContainerStatus {
  const { doing, ended, image, ready, restarts, started, resources } = view;
  const state: ContainerState =
    doing.t === "running"
      ? { running: { startedAt: secondsTime(new Date(doing.since)) } }
      : { waiting: { reason: doing.reason } };
  return {
    name: etcdContainer,
    image,
    imageID: imageId(image),
    ready,
    started,
    restartCount: restarts,
    state,
    ...(ended !== undefined && { lastState: { terminated: terminated(ended) } }),
    ...(resources !== undefined && { resources }),
  };
}

function terminated({ reason, words, at }: Ended): ContainerStateTerminated {
  const exitCode = reason === "OOMKilled" ? 137 : 1;
  return { exitCode, reason, finishedAt: secondsTime(new Date(at)), ...(words !== "" && { message: words }) };
}

export const isTrue = ({ status }: Pod, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === "True") === true;

/** Its readiness gates are. */
export const isOpen = (pod: Pod): boolean =>
  pod.spec?.readinessGates?.every(({ conditionType }) => isTrue(pod, conditionType)) ?? true;
