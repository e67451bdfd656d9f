// Where the keys of a controller come from: an informer, and a function from an object to the keys that it concerns.
import type { Cache, Informer } from "../cache/informer.ts";
import type { Change } from "../cache/change.ts";
import type { Priority } from "./lanes.ts";
import { keyOf, keyText, type Kind, type KubeObject } from "../objects/objects.ts";

type Enqueue = (key: string, priority: Priority) => void;

/** Anything that makes keys. Those made from an informer come from `from()`. */
export interface Source {
  /** Starts to report keys; returns how to stop. */
  subscribe(enqueue: Enqueue): () => void;
  whenSynced(signal: AbortSignal): Promise<void>;
  /** All keys that concern this source at present. */
  keys(): Iterable<string>;
  /** What the keys are made from, if that is a cache. */
  readonly cache?: Cache;
}

export interface SourceOptions<T extends KubeObject> {
  /** Default: the object's own key. */
  toKeys?: (object: T) => Iterable<string>;
  /** Default: low for what was there at the start, otherwise normal. */
  priority?: Priority | ((change: Change<T>) => Priority);
  /** Changes that it returns false for are passed over. */
  filter?: (change: Change<T>) => boolean;
}

export function from<T extends KubeObject>(informer: Informer<T>, options: SourceOptions<T> = {}): Source {
  const { toKeys = toSelf, priority = "normal", filter = () => true } = options;
  const priorityOf = (change: Change<T>): Priority => {
    if (typeof priority === "function") return priority(change);
    return change.type === "added" && change.initial ? "low" : priority;
  };
  return {
    cache: informer,
    // A controller does not wait for a cache that may never fill.
    whenSynced: (signal) => (informer.optional ? Promise.resolve() : informer.whenSynced(signal)),
    subscribe: (enqueue) =>
      informer.subscribe((change) => {
        if (!filter(change)) return;
        const urgency = priorityOf(change);
        for (const key of keysOf(change, toKeys)) enqueue(key, urgency);
      }),
    *keys() {
      for (const object of informer.store.values()) yield* toKeys(object);
    },
  };
}

/** An object that changed hands concerns the one who had it as well. */
function keysOf<T>(change: Change<T>, toKeys: (object: T) => Iterable<string>): Set<string> {
  const keys = new Set(toKeys(change.object));
  if (change.type === "updated") for (const key of toKeys(change.old)) keys.add(key);
  return keys;
}

function toSelf(object: KubeObject): string[] {
  return [keyText(keyOf(object))];
}

/** For dependents: the key of the controlling owner, if that is of this kind. */
export function toController(owner: Kind<KubeObject>): (object: KubeObject) => string[] {
  return (object) => {
    const controller = object.metadata?.ownerReferences?.find((reference) => reference.controller === true);
    if (controller === undefined || controller.kind !== owner.kind) return [];
    if (groupOf(controller.apiVersion) !== owner.group) return [];
    return [keyText({ namespace: owner.namespaced ? (object.metadata?.namespace ?? "") : "", name: controller.name })];
  };
}

/** For the kind that users edit: high when the object was created, edited or deleted; normal for its status. */
export function userEditsFirst(change: Change<KubeObject>): Priority {
  if (change.type === "added") return change.initial ? "low" : "high";
  if (change.type === "deleted") return "high";
  const before = change.old.metadata;
  const after = change.object.metadata;
  const edited = before?.generation !== after?.generation || before?.deletionTimestamp !== after?.deletionTimestamp;
  return edited ? "high" : "normal";
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
