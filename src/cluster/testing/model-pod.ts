// A pod of the model: what happens to it in time, and how it looks to the operator.
import type { MemberPod, PodState } from "../observe/world.ts";

/** How long things take, in milliseconds. */
export const times = { schedule: 20, start: 300, listen: 100, stop: 200, vanish: 1000, catchUp: 250 } as const;

export interface ModelPod {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly joinsWith: readonly string[];
  readonly seed: boolean;
  stage: "pending" | "starting" | "running" | "crashing" | "ended";
  /** When its process runs, if nothing happens to it. */
  runsAt: number;
  deletedAt: number | undefined;
  crashedAt: number;
  nodeSilentSince: number | undefined;
  /** How far its log goes; undefined before it has one. */
  held: number | undefined;
}

export function newModelPod(made: Pick<ModelPod, "name" | "uid" | "createdAt" | "joinsWith" | "seed">): ModelPod {
  return {
    ...made,
    stage: "pending",
    runsAt: made.createdAt + times.schedule + times.start,
    deletedAt: undefined,
    crashedAt: 0,
    nodeSilentSince: undefined,
    held: undefined,
  };
}

export function seenPod(pod: ModelPod, version: string): MemberPod {
  const node = `node-of-${pod.name}`;
  return {
    name: pod.name,
    uid: pod.uid,
    createdAt: pod.createdAt,
    terminating: pod.deletedAt !== undefined,
    state: stateOf(pod),
    ready: pod.stage === "running",
    address: pod.stage === "running" || pod.stage === "crashing" ? "10.0.0.1" : undefined,
    node:
      pod.nodeSilentSince === undefined
        ? { t: "ready", name: node }
        : { t: "silent", name: node, since: pod.nodeSilentSince },
    version,
    hasVolume: false,
    labelled: true,
    joinsWith: pod.joinsWith,
  };
}

function stateOf({ stage, crashedAt }: ModelPod): PodState {
  switch (stage) {
    case "running":
      return { t: "running", restarts: 0 };
    case "crashing":
      return { t: "crashing", since: crashedAt, restarts: 1, problem: "exit code 1" };
    case "ended":
      return { t: "ended", problem: "Evicted" };
    case "pending":
    case "starting":
    default:
      return { t: stage };
  }
}
