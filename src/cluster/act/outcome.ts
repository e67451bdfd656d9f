// How carrying out a plan ended, and what etcd means when it refuses: most of that is simply too early.
import { EtcdError, type EtcdReason } from "../../etcd/errors.ts";
import { isAccessRefusal } from "../../etcd/login.ts";
import { TransportError } from "../../transport/errors.ts";
import type { ClusterAction, ClusterDecision } from "../plan/actions.ts";
import { accessRefusalOf, adviceOnRefusal } from "./refusals.ts";
import { delays } from "../../controllers/delays.ts";
import { NotYet, type Obstacle, obstacleOf } from "../../controllers/obstacle.ts";

export type ActionObstacle = Obstacle & {
  readonly at: ClusterAction;
  /** etcd said no, and has changed nothing. */
  readonly byEtcd?: boolean;
};

export interface ClusterOutcome {
  readonly did: readonly ClusterAction[];
  /** The decision that was carried out, or was tried last. */
  readonly decision: ClusterDecision;
  /** What stopped the members from being managed; undefined: nothing. */
  readonly obstacle: ActionObstacle | undefined;
  /** What was refused on the way and held up nothing: other decisions, guards, upkeep. */
  readonly passed: readonly ActionObstacle[];
}

/** In the words for people, each once. */
export function refusalsIn({ obstacle, passed }: ClusterOutcome): readonly string[] {
  const all = [...(obstacle === undefined ? [] : [obstacle]), ...passed];
  return [...new Set(all.flatMap((one) => (one.t === "refused" ? [one.because] : [])))];
}

/** It changed nothing, and would say no again: others may be tried. */
export function isRefused(obstacle: ActionObstacle): boolean {
  return obstacle.t === "refused" || obstacle.byEtcd === true;
}

/** Milliseconds until it is worth another try. What is not here is a failure. */
const tooEarly: ReadonlyMap<EtcdReason, number> = new Map<EtcdReason, number>([
  ["learnerNotReady", delays.soon],
  ["notLeader", delays.soon],
  ["noLeader", delays.tooEarly],
  ["leaderChanged", delays.tooEarly],
  ["tooManyLearners", delays.tooEarly],
  ["memberExists", delays.tooEarly],
  ["peerUrlExists", delays.tooEarly],
  ["badTransferee", delays.tooEarly],
  ["notServedByLearner", delays.tooEarly],
  // Links younger than 5 s: etcd waits to see whether they hold.
  ["unhealthyCluster", delays.untilAccepted],
  ["notEnoughStartedMembers", delays.untilAccepted],
  ["tooManyRequests", delays.untilAccepted],
  ["notCapable", delays.untilAccepted],
  // etcd is on its way from one version to another.
  ["downgradeInProgress", delays.untilAccepted],
  ["invalidDowngradeTarget", delays.untilSettled],
]);

/** These may have been carried out: the next reconcile sees. */
const unknown: ReadonlyMap<EtcdReason, number> = new Map<EtcdReason, number>([
  ["timeout", delays.tooEarly],
  ["stopped", delays.tooEarly],
  ["cancelled", delays.tooEarly],
]);

export function obstacleAt(at: ClusterAction, error: unknown): ActionObstacle {
  if (error instanceof EtcdError) {
    const { message: because, reason } = error;
    const [refused, open] = [tooEarly.get(reason), unknown.get(reason)];
    if (refused !== undefined) return { t: "notYet", at, because, againAfter: refused, byEtcd: true };
    if (open !== undefined) return { t: "notYet", at, because, againAfter: open };
    if (isAccessRefusal(error)) return { t: "refused", at, because: accessRefusalOf(error) };
  }
  return { at, ...obstacleOf(error, (words, refusal) => `${words} ${adviceOnRefusal(refusal, at)}`) };
}

/** A member that cannot be reached at this moment is no failure of ours; the next reconcile asks another one. */
export async function askingEtcd<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof TransportError)
      throw new NotYet(`a member did not answer: ${error.message}`, delays.untilAccepted);
    throw error;
  }
}
