// Owner references: who an object belongs to. Owners are identified by uid, never by name, so that what an object of
// the same name left behind is never taken for one's own.
import { apiVersionOf, type Kind, type KubeObject, type OwnerReference } from "./objects.ts";

/** `controller`: manages the object, at most one may. `dependency`: the object merely goes away with its owner. */
type Ownership = "controller" | "dependency";

/** `owner` must have been read from the server; in a cache its kind and apiVersion are often missing, so `kind` says them. */
export function ownerReference<T extends KubeObject>(
  kind: Kind<T>,
  owner: T,
  ownership: Ownership = "controller",
): OwnerReference {
  const { name, uid } = owner.metadata ?? {};
  if (name === undefined || uid === undefined) {
    throw new TypeError(`a ${kind.kind} without name and uid cannot own anything: read it from the server first`);
  }
  const reference = { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid };
  // Foreground deletion of the owner then waits for what it controls.
  return ownership === "controller" ? { ...reference, controller: true, blockOwnerDeletion: true } : reference;
}

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller === true);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  const uid = owner.metadata?.uid;
  return uid !== undefined && controllerOf(object)?.uid === uid;
}
