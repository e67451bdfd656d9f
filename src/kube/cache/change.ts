// What happened to one object between two reads of it. A cache may miss states in between, so this is decided by
// comparing what was with what is, and never by the name that a watch gave to the event.
import type { KubeObject } from "../objects/objects.ts";

export type Change<T> =
  /** `initial`: it was there when the handler subscribed, and is not new. */
  | { readonly type: "added"; readonly object: T; readonly initial: boolean }
  | { readonly type: "updated"; readonly object: T; readonly old: T }
  /** `object` is the last state that is known, which after a gap is not the last that was. */
  | { readonly type: "deleted"; readonly object: T };

/** True when both are versions of one object, and not two objects that had the same name one after the other. */
export function isSameObject(a: KubeObject, b: KubeObject): boolean {
  return a.metadata?.uid === b.metadata?.uid;
}

export function isSameVersion(a: KubeObject, b: KubeObject): boolean {
  return isSameObject(a, b) && a.metadata?.resourceVersion === b.metadata?.resourceVersion;
}

export function changesBetween<T extends KubeObject>(old: T | undefined, now: T | undefined): Change<T>[] {
  if (now === undefined) return old === undefined ? [] : [{ type: "deleted", object: old }];
  if (old === undefined) return [{ type: "added", object: now, initial: false }];
  if (!isSameObject(old, now)) {
    return [
      { type: "deleted", object: old },
      { type: "added", object: now, initial: false },
    ];
  }
  return isSameVersion(old, now) ? [] : [{ type: "updated", object: now, old }];
}
