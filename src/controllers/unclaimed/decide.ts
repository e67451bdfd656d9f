// What an operator of all namespaces does with an object that has no scope annotation, decided purely. Such an object is for
// an operator of its namespace, if there is one, of this program or etcd-operator 0.9. Where nobody has touched it, it is
// taken: the annotation is written, which both programs respect, so that no other operator acts on it from then on.
//
// An operator of the namespace may start in the very moment. So it is taken in two steps: first the annotation gets a value
// that is nobody's, and only when the caches of all operators have seen that, and still nobody has touched the object, it
// gets the one that is ours.
//
//   1. an operator of the namespace acts within its first second  → it is touched, and stays its own
//   2. one starts while it is held, and saw it before that        → it is touched at its next reconcile, and given back
//   3. one starts later                                           → it sees the annotation, and leaves it alone

/** A scope that no operator has, while it is being taken. */
export const heldScope = "clusterwide-pending";

/** Milliseconds for an operator of the namespace to begin. */
export const untouchedForMs = 5_000;
/** Milliseconds for the caches of others to see that it is held. */
export const heldForMs = 3_000;
/** Milliseconds after which an edit that nobody acts on is reported. */
export const ignoredForMs = 60_000;

/** The facts, read live but for the two durations. */
export interface UnclaimedFacts {
  readonly scope: string | undefined;
  /** Since it was made. */
  readonly ageMs: number;
  /** Since this operator has seen it held; undefined: it has not before. */
  readonly heldMs: number | undefined;
  /** It has a status, or pods. */
  readonly touched: boolean;
  /** `present`: there is the Lease of an operator of the namespace, held or not. `unseen`: it may not be read. */
  readonly operatorOfNamespace: "absent" | "present" | "unseen";
}

export type TakeoverStep =
  | { readonly do: "leave"; readonly because?: string }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "hold" | "take" | "giveBack" };

export function takeoverStep({ scope, ageMs, heldMs, touched, operatorOfNamespace }: UnclaimedFacts): TakeoverStep {
  if (scope !== undefined && scope !== heldScope) return { do: "leave" };
  const isHeld = scope === heldScope;
  if (touched) return isHeld ? { do: "giveBack" } : { do: "leave" };
  if (!isHeld && ageMs < untouchedForMs) return { do: "wait", ms: untouchedForMs - ageMs };
  if (operatorOfNamespace === "present") return isHeld ? { do: "giveBack" } : { do: "leave", because: present };
  if (operatorOfNamespace === "unseen") return isHeld ? { do: "giveBack" } : { do: "leave", because: unseen };
  if (!isHeld) return { do: "hold" };
  if (heldMs === undefined) return { do: "wait", ms: heldForMs };
  return heldMs < heldForMs ? { do: "wait", ms: heldForMs - heldMs } : { do: "take" };
}

const annotate = "give it the annotation etcd.database.coreos.com/scope: clusterwide";
const present = `This namespace has the Lease of an operator of its own, and that operator does not act on the object: check whether it runs. If it no longer exists, delete the Lease, or ${annotate}.`;
const unseen = `The operator for all namespaces has no permission to read the Leases of this namespace, so it cannot see whether the namespace has an operator of its own: apply the operator's manifests again, or ${annotate}.`;
export const ignored = `No operator has acted on the last change. The object has no scope annotation, so it belongs to an operator of its namespace: check whether that operator runs. To have the operator for all namespaces manage it, ${annotate}.`;
