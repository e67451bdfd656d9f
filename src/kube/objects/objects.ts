// What every Kubernetes object has, and how a kind of object is described. Types of built-in kinds come from
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
