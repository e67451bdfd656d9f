// The garbage collector beside the in-memory API server: what has lost its last owner is deleted. Like the real one it
// runs after the fact, not in the request.
import type { ApiServer } from "./api-server.ts";
import { isTerminating } from "./admission.ts";
import { copyObject, isJsonObject, metadataOf, textAt, type Json, type JsonObject, valueAt } from "./json.ts";
import { storageKey } from "./listing.ts";
import type { Resource, Resources } from "./resources.ts";
import type { Change } from "./storage.ts";

/** Names one object in the store. */
interface GarbagePlace {
  readonly table: string;
  readonly key: string;
}

export class GarbageCollector {
  readonly #server: ApiServer;
  readonly #resources: Resources;
  /** Places of objects that name this uid as an owner. */
  readonly #dependents = new Map<string, Map<string, GarbagePlace>>();
  readonly #todo = new Map<string, GarbagePlace>();
  readonly #onDelete: (resource: Resource, object: JsonObject) => void;

  /** `onDelete`: called with each object that it has deleted, as it was before. */
  constructor(server: ApiServer, resources: Resources, onDelete: (resource: Resource, object: JsonObject) => void) {
    this.#server = server;
    this.#resources = resources;
    this.#onDelete = onDelete;
  }

  note(change: Change): void {
    const place = { table: change.table, key: change.key };
    const id = idOf(place);
    const before = change.previous === undefined ? [] : ownersOf(change.previous);
    const after = change.type === "DELETED" ? [] : ownersOf(change.object);
    for (const owner of before) this.#dependents.get(textAt(owner, "uid"))?.delete(id);
    for (const owner of after) {
      const uid = textAt(owner, "uid");
      const places = this.#dependents.get(uid) ?? new Map<string, GarbagePlace>();
      this.#dependents.set(uid, places.set(id, place));
    }
    if (change.type === "DELETED") {
      const uid = textAt(change.object, "metadata.uid");
      for (const [dependent, at] of this.#dependents.get(uid) ?? []) this.#todo.set(dependent, at);
    } else if (after.length > 0) this.#todo.set(id, place);
  }

  /** Does what is to be done, including what that leads to. */
  work(): void {
    for (const [id, place] of this.#todo) {
      this.#todo.delete(id);
      this.#visit(place);
    }
  }

  #visit({ table, key }: GarbagePlace): void {
    const resource = this.#resources.byTable(table);
    const object = this.#server.storage.get(table, key);
    if (resource === undefined || object === undefined) return;
    const owners = ownersOf(object);
    const lost = owners.filter((owner) => this.#isGone(owner, object));
    if (lost.length === 0) return;
    if (lost.length === owners.length) {
      if (isTerminating(object)) return;
      this.#server.delete(resource, keyOf(object), {});
      this.#onDelete(resource, object);
      return;
    }
    this.#keepOwners(resource, object, (owner) => !lost.includes(owner));
  }

  /** An owner of a kind that is not served here cannot be judged, and is taken to be there. */
  #isGone(owner: Json, dependent: JsonObject): boolean {
    const place = this.#placeOf(owner, dependent);
    if (place === undefined) return false;
    return textAt(this.#server.storage.get(place.table, place.key), "metadata.uid") !== textAt(owner, "uid");
  }

  #placeOf(owner: Json, dependent: JsonObject): GarbagePlace | undefined {
    const resource = this.#resources.byApiVersion(textAt(owner, "apiVersion"), textAt(owner, "kind"));
    if (resource === undefined) return undefined;
    const namespace = resource.namespaced ? textAt(dependent, "metadata.namespace") : "";
    return { table: resource.table, key: storageKey(namespace, textAt(owner, "name")) };
  }

  #keepOwners(resource: Resource, object: JsonObject, keep: (owner: Json) => boolean): void {
    const next = copyObject(object);
    const owners = ownersOf(object).filter(keep);
    if (owners.length > 0) metadataOf(next)["ownerReferences"] = owners;
    else delete metadataOf(next)["ownerReferences"];
    this.#server.store(resource, object, next);
  }
}

const idOf = (place: GarbagePlace): string => `${place.table} ${place.key}`;

const keyOf = (object: JsonObject): { namespace: string; name: string } => ({
  namespace: textAt(object, "metadata.namespace"),
  name: textAt(object, "metadata.name"),
});

function ownersOf(object: JsonObject): Json[] {
  const owners = valueAt(object, "metadata.ownerReferences");
  return Array.isArray(owners) ? owners.filter(isJsonObject) : [];
}
