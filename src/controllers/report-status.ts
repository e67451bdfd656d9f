// Writes the status of an object over the version that was observed, and only what has changed of it.
import { fieldManager } from "../api/field-manager.ts";
import { isConflict, isInvalid, isNotFound } from "../kube/client/errors.ts";
import type { ReconcileContext } from "../kube/controller/run-reconcile.ts";
import type { Condition } from "../kube/objects/conditions.ts";
import { type Kind, type KubeObject, keyOf, secondsTime } from "../kube/objects/objects.ts";

/**
 * `outdated`: somebody else wrote meanwhile, and the next reconcile reports. `refused`: the object was stored before the
 * rules that forbid its name, and with it every status is refused. Then only an event can say so.
 */
export type Reported = "written" | "unchanged" | "outdated" | "refused";

interface StatusWrite<T extends KubeObject> {
  readonly kind: Kind<T>;
  /** As it was observed, or as it was written last. */
  readonly object: KubeObject;
  /** A merge patch; undefined: nothing is worth a write. */
  readonly patch: object | undefined;
  /** What is wrong with the spec. With none the API server has no reason to refuse a status. */
  readonly problems: readonly string[];
}

export async function reportStatus<T extends KubeObject>(
  { kind, object, patch, problems }: StatusWrite<T>,
  reconcile: Pick<ReconcileContext, "api" | "signal">,
): Promise<Reported> {
  if (patch === undefined) return "unchanged";
  try {
    await patchStatus(kind, object, patch, reconcile);
    return "written";
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return "outdated";
    if (!isInvalid(error) || problems.length === 0) throw error;
    return "refused";
  }
}

/** Fails with `Conflict` when the object is another than `object` by now. */
export function patchStatus<T extends KubeObject>(
  kind: Kind<T>,
  object: KubeObject,
  status: object,
  { api, signal }: Pick<ReconcileContext, "api" | "signal">,
): Promise<T> {
  const { resourceVersion } = object.metadata ?? {};
  const patch = { metadata: { resourceVersion }, status };
  return api.mergePatch(kind, keyOf(object), patch, { subresource: "status", fieldManager, signal });
}

/** As in etcd-operator 0.9, a condition says when anything of it last changed. */
interface StampedCondition extends Condition {
  lastUpdateTime?: string;
}

/** What of `after` is the very condition that was there before keeps its time. */
export function stamped(
  before: readonly StampedCondition[],
  after: readonly StampedCondition[],
  now: Date,
): StampedCondition[] {
  return after.map((one) => (before.includes(one) ? one : { ...one, lastUpdateTime: secondsTime(now) }));
}
