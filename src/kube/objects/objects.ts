// What every Kubernetes object has: metadata, key, kind, times and resource versions. Types of built-in kinds come from
// `kubernetes-types`; a custom kind brings its own type. Nothing here talks to a server.

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: unknown[];
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
}

/** One description of a kind is all that the client, the informers and the fake need to know about it. */
export interface Kind<T extends KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set: it only carries the object type. */
  readonly object?: T;
}

/** Names one object. `namespace` is empty for cluster-scoped kinds. */
export interface Key {
  readonly namespace: string;
  readonly name: string;
}

export function keyOf(object: KubeObject): Key {
  return { namespace: object.metadata?.namespace ?? "", name: object.metadata?.name ?? "" };
}

/** `namespace/name`, or just `name` for cluster-scoped objects: fit for maps and logs. */
export function keyText(key: Key): string {
  return key.namespace === "" ? key.name : `${key.namespace}/${key.name}`;
}

export function parseKey(text: string): Key {
  const slash = text.indexOf("/");
  return slash < 0 ? { namespace: "", name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

export function apiVersionOf(kind: Kind<KubeObject>): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}

/** For Leases and Events: exactly six digits after the second. The API server refuses three, or none, with 400. */
export function microTime(date: Date): string {
  return date.toISOString().replace("Z", "000Z");
}

/** For all other times, such as those of conditions: no digits after the second. */
export function secondsTime(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}

/** RFC 3339, as the API server checks a `date-time`. */
export const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text));

// Resource versions of one kind count up like integers, which is what lets a cache say that it has seen a write. On a
// server whose versions are not decimal numbers, only equality is known.
const decimal = /^(0|[1-9][0-9]*)$/;

/** Negative, zero or positive; undefined when the two cannot be ordered. They may exceed 2^53. */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

export function isOlder(version: string, than: string): boolean {
  const order = compareVersions(version, than);
  return order !== undefined && order < 0;
}

export function isAtLeast(version: string, wanted: string): boolean {
  const order = compareVersions(version, wanted);
  return order !== undefined && order >= 0;
}
