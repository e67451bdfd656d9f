// Where things are under an API server: the path of a collection, of an object and of its subresources, and the
// query strings that go with them.
import type { Selection, Subresource } from "./api.ts";
import type { Key, Kind, KubeObject } from "../objects/objects.ts";

type Query = Record<string, string | number | boolean | undefined>;

/** All objects of a kind, in one namespace or, without one, everywhere. */
export function collectionPath(kind: Kind<KubeObject>, namespace: string | undefined): string {
  const base = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const within = kind.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${base}${within}/${kind.plural}`;
}

/** Where objects of a kind are created: a namespaced one needs its namespace. */
export function creationPath(kind: Kind<KubeObject>, namespace: string): string {
  if (kind.namespaced && namespace === "") throw new TypeError(`a ${kind.kind} needs a namespace`);
  return collectionPath(kind, namespace);
}

export function objectPath(kind: Kind<KubeObject>, key: Key, subresource?: Subresource): string {
  // Without a name the path would be that of the whole collection, and a delete would empty it.
  if (key.name === "") throw new TypeError(`a ${kind.kind} needs a name`);
  const path = `${creationPath(kind, key.namespace)}/${encodeURIComponent(key.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

export function selectionQuery({ labelSelector, fieldSelector }: Selection): Query {
  return { labelSelector, fieldSelector };
}

export function withQuery(path: string, query: Query): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parts.push(`${name}=${encodeURIComponent(value)}`);
  }
  return parts.length === 0 ? path : `${path}?${parts.join("&")}`;
}
