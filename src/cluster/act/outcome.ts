// How carrying out a plan ended, and what each way to fail means: some things are simply too early, some wait for a
// person, and the rest is tried again by the next reconcile.
import { EtcdError, type EtcdReason } from "../../etcd/errors.ts";
import { isAccessRefusal } from "../../etcd/login.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { LeadershipLost } from "../../kube/leader/fence.ts";
import { ReconcileAborted } from "../../kube/controller/reconcile.ts";
import { TransportError } from "../../transport/errors.ts";
import type { Action, Decision } from "../plan/actions.ts";
import { accessRefusalOf, isRefusal, refusalOf } from "./refusals.ts";
import { delays } from "../../controllers/delays.ts";

/** What kept an action from being done. */
export type Obstacle = { readonly at: Action } & (
  | {
      /** Nothing is wrong: etcd or a cache was not there yet. */
      readonly t: "notYet";
      readonly because: string;
      readonly againAfter: number;
      /** etcd said no, and has changed nothing. */
      readonly byEtcd: boolean;
    }
  /** Kubernetes will say it again until somebody changes something. */
  | { readonly t: "refused"; readonly message: string }
  | { readonly t: "failed"; readonly error: unknown }
);

export interface Outcome {
  /** What was carried out, in order. */
  readonly did: readonly Action[];
  /** The decision that was carried out, or was tried last. */
  readonly decision: Decision;
  /** What stopped the members from being looked after; undefined: nothing. */
  readonly obstacle: Obstacle | undefined;
  /** What was refused on the way and held up nothing: other decisions, guards, upkeep. */
  readonly passed: readonly Obstacle[];
}

/** In the words for people, each once. */
export function refusalsIn({ obstacle, passed }: Outcome): readonly string[] {
  const all = [...(obstacle === undefined ? [] : [obstacle]), ...passed];
  return [...new Set(all.flatMap((one) => (one.t === "refused" ? [one.message] : [])))];
}

/** It changed nothing, and would say no again: others may be tried. */
export function isRefused(obstacle: Obstacle): boolean {
  return obstacle.t === "refused" || (obstacle.t === "notYet" && obstacle.byEtcd);
}

/** Thrown by an action that sees for itself that it is too early. */
export class NotYet extends Error {
  readonly againAfter: number;

  constructor(message: string, againAfter: number = delays.tooEarly) {
    super(message);
    this.name = "NotYet";
    this.againAfter = againAfter;
  }
}

/** Thrown by an action that only a person can make possible; the message says how. */
export class Refused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Refused";
  }
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

const outdated: ReadonlySet<string> = new Set(["Conflict", "AlreadyExists", "NotFound"]);

export function obstacleOf(error: unknown, at: Action): Obstacle {
  // Not this reconcile's to explain: it is over.
  if (error instanceof LeadershipLost || error instanceof ReconcileAborted) throw error;
  const notYet = (because: string, againAfter: number, byEtcd = false): Obstacle => ({
    t: "notYet",
    at,
    because,
    againAfter,
    byEtcd,
  });
  if (error instanceof NotYet) return notYet(error.message, error.againAfter);
  if (error instanceof Refused) return { t: "refused", at, message: error.message };
  if (error instanceof EtcdError) {
    const [refused, open] = [tooEarly.get(error.reason), unknown.get(error.reason)];
    if (refused !== undefined) return notYet(error.message, refused, true);
    if (open !== undefined) return notYet(error.message, open);
    if (isAccessRefusal(error)) return { t: "refused", at, message: accessRefusalOf(error) };
  }
  if (error instanceof ApiError) {
    if (outdated.has(error.reason)) return notYet(error.message, delays.cacheIsBehind);
    if (isRefusal(error)) return { t: "refused", at, message: refusalOf(error, at) };
  }
  return { t: "failed", at, error };
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
