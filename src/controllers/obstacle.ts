// What keeps an action from being done, and what it means: some things are simply too early, some wait for a person, and
// the rest is tried again with back-off.
import { ApiError } from "../kube/client/errors.ts";
import { ReconcileAborted } from "../kube/controller/run-reconcile.ts";
import { LeadershipLost } from "../kube/leader/fence.ts";
import { delays } from "./delays.ts";
import { sentence } from "./event.ts";

export type Obstacle =
  /** Nothing is wrong: etcd or a cache was not there yet. */
  | { readonly t: "notYet"; readonly because: string; readonly againAfter: number }
  /** Kubernetes will say it again until somebody changes something. */
  | { readonly t: "refused"; readonly because: string; readonly by?: ApiError }
  | { readonly t: "failed"; readonly error: unknown };

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

/** The server has another idea of an object than the cache has. */
const outdated: ReadonlySet<string> = new Set(["Conflict", "AlreadyExists", "NotFound"]);

const refusing: ReadonlySet<string> = new Set(["Invalid", "Forbidden", "BadRequest", "RequestEntityTooLarge"]);

/** Trying again does not help. */
export const isRefusal = ({ reason }: ApiError): boolean => refusing.has(reason);

/** `explain` makes a sentence for people of a refusal by the API server, and of its words. */
export function obstacleOf(error: unknown, explain: (words: string, refusal: ApiError) => string): Obstacle {
  // Not this reconcile's to explain: it is over.
  if (error instanceof LeadershipLost || error instanceof ReconcileAborted) throw error;
  if (error instanceof NotYet) return { t: "notYet", because: error.message, againAfter: error.againAfter };
  if (error instanceof Refused) return { t: "refused", because: error.message };
  if (!(error instanceof ApiError)) return { t: "failed", error };
  if (outdated.has(error.reason)) return { t: "notYet", because: error.message, againAfter: delays.cacheIsBehind };
  if (isRefusal(error)) return { t: "refused", because: explain(sentence(error.message), error), by: error };
  return { t: "failed", error };
}

export const forbidders = "a ResourceQuota, a LimitRange, the Pod Security level, a policy";
export const triedAgain = "It is tried again every 10 s.";
export const grantPermissions =
  "Check that the operator has the permissions in example/rbac, and that no policy forbids it.";
