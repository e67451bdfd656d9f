// How carrying out a plan ended, and what each way to fail means: some things are simply too early, some wait for a
// person, and the rest is tried again by a pass that looks anew.
import { EtcdError, type EtcdReason } from "../../etcd/errors.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { LeadershipLost } from "../../kube/leader/fence.ts";
import { ReconcileAborted } from "../../kube/controller/reconcile.ts";
import { TransportError } from "../../transport/errors.ts";
import type { Action } from "../plan/actions.ts";
import { isRefusal, refusalOf } from "./refusals.ts";

interface Progress {
  /** What was carried out before the end. */
  readonly did: readonly Action[];
}

export type Outcome = Progress &
  (
    | { readonly t: "done" }
    /** Nothing is wrong: etcd or a cache was not there yet. */
    | { readonly t: "notYet"; readonly at: Action; readonly because: string; readonly againAfter: number }
    /** It will be said again until somebody changes something. */
    | { readonly t: "refused"; readonly at: Action; readonly message: string }
    | { readonly t: "failed"; readonly at: Action; readonly error: unknown }
  );

/**
 * The server has another idea of an object than the cache had. The watch brings the cluster back as soon as the cache
 * has caught up; until then the same is seen again, and so nothing is gained by looking often.
 */
export const whileCacheIsBehindMs = 1000;

/** Thrown by an action that sees for itself that it is too early. */
export class NotYet extends Error {
  readonly againAfter: number;

  constructor(message: string, againAfter = 250) {
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
  ["learnerNotReady", 100],
  ["notLeader", 100],
  ["noLeader", 250],
  ["leaderChanged", 250],
  ["tooManyLearners", 250],
  ["memberExists", 250],
  ["peerUrlExists", 250],
  ["badTransferee", 250],
  ["notServedByLearner", 250],
  // Links younger than 5 s: etcd waits to see whether they hold.
  ["unhealthyCluster", 500],
  ["notEnoughStartedMembers", 500],
  ["tooManyRequests", 500],
  ["notCapable", 500],
  // These may have been carried out: the next pass sees.
  ["timeout", 250],
  ["stopped", 250],
  ["cancelled", 250],
]);

const outdated: ReadonlySet<string> = new Set(["Conflict", "AlreadyExists", "NotFound"]);

export function endedBy(error: unknown, at: Action, did: readonly Action[]): Outcome {
  // Not this pass' to explain: it is over.
  if (error instanceof LeadershipLost || error instanceof ReconcileAborted) throw error;
  const notYet = (because: string, againAfter: number): Outcome => ({ t: "notYet", at, did, because, againAfter });
  if (error instanceof NotYet) return notYet(error.message, error.againAfter);
  if (error instanceof Refused) return { t: "refused", at, did, message: error.message };
  if (error instanceof EtcdError) {
    const againAfter = tooEarly.get(error.reason);
    if (againAfter !== undefined) return notYet(error.message, againAfter);
  }
  if (error instanceof ApiError) {
    if (outdated.has(error.reason)) return notYet(error.message, whileCacheIsBehindMs);
    if (isRefusal(error)) return { t: "refused", at, did, message: refusalOf(error, at) };
  }
  return { t: "failed", at, did, error };
}

/** A member that cannot be reached at this moment is no failure of ours; another one is asked by the next pass. */
export async function askingEtcd<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof TransportError) throw new NotYet(`a member did not answer: ${error.message}`, 500);
    throw error;
  }
}
