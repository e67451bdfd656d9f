// Finalizers: added before anything is made that must be cleaned up, removed when it is. A merge patch replaces the
// whole list, so each patch carries the resourceVersion that the list was read at: with another writer's finalizer in
// between, or the object made anew under its name, the server answers Conflict instead of doing harm.
import type { KubeApi, RequestOptions } from "../client/api.ts";
import { isNotFound } from "../client/errors.ts";
import type { Kind, KubeObject } from "./objects.ts";
import { keyOf } from "./objects.ts";

export interface FinalizersPatch {
  metadata: { resourceVersion: string; finalizers: string[] };
}

export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata?.finalizers?.includes(finalizer) ?? false;
}

/** Nothing to do when it is there already, or when the object is being deleted: the server takes no new one then. */
export function finalizerToAdd(object: KubeObject, finalizer: string): FinalizersPatch | undefined {
  if (hasFinalizer(object, finalizer) || object.metadata?.deletionTimestamp !== undefined) return undefined;
  return patch(object, [...(object.metadata?.finalizers ?? []), finalizer]);
}

export function finalizerToRemove(object: KubeObject, finalizer: string): FinalizersPatch | undefined {
  if (!hasFinalizer(object, finalizer)) return undefined;
  return patch(
    object,
    (object.metadata?.finalizers ?? []).filter((other) => other !== finalizer),
  );
}

function patch(object: KubeObject, finalizers: string[]): FinalizersPatch {
  const resourceVersion = object.metadata?.resourceVersion;
  if (resourceVersion === undefined) {
    throw new TypeError("finalizers can only be changed on an object that was read from the server");
  }
  return { metadata: { resourceVersion, finalizers } };
}

/** The object with the finalizer, written only if it was missing. Conflict means: read again, decide again. */
export async function addFinalizer<T extends KubeObject>(
  api: KubeApi,
  kind: Kind<T>,
  object: T,
  finalizer: string,
  options?: RequestOptions,
): Promise<T> {
  const change = finalizerToAdd(object, finalizer);
  return change === undefined ? object : await api.mergePatch(kind, keyOf(object), change, options);
}

/** After this the object may be gone; that it is gone already is no error. */
export async function removeFinalizer<T extends KubeObject>(
  api: KubeApi,
  kind: Kind<T>,
  object: T,
  finalizer: string,
  options?: RequestOptions,
): Promise<void> {
  const change = finalizerToRemove(object, finalizer);
  if (change === undefined) return;
  try {
    await api.mergePatch(kind, keyOf(object), change, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
