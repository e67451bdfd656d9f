// The garbage collector beside the in-memory API server: what has lost its last owner goes, and owners that are
// deleted in the foreground or as orphaners wait for it. Like the real one it runs after the fact, not in the request.
import type { ApiServer } from "../api-server.ts";
import { isTerminating } from "./admission.ts";
import type { Json, JsonObject } from "./json.ts";
import { copyObject, isJsonObject, metadataOf, stringsAt, textAt, valueAt } from "./json.ts";
import { storageKey } from "./listing.ts";
import type { Resource, Resources } from "./resources.ts";
import type { Change } from "./storage.ts";

const foreground = "foregroundDeletion";
const orphan = "orphan";

/** Names one object in the store. */
interface Place {
  readonly table: string;
  readonly key: string;
}

export class GarbageCollector {
  readonly #server: ApiServer;
  readonly #resources: Resources;
  /** Places of objects that name this uid as an owner. */
  readonly #dependents = new Map<string, Map<string, Place>>();
  readonly #todo = new Map<string, Place>();

  constructor(server: ApiServer, resources: Resources) {
    this.#server = server;
    this.#resources = resources;
  }

  note(change: Change): void {
    const place = { table: change.table, key: change.key };
    const id = idOf(place);
    const before = change.previous === undefined ? [] : ownersOf(change.previous);
    const after = change.type === "DELETED" ? [] : ownersOf(change.object);
    for (const owner of before) this.#dependents.get(textAt(owner, "uid"))?.delete(id);
    for (const owner of after) {
      const uid = textAt(owner, "uid");
      const places = this.#dependents.get(uid) ?? new Map<string, Place>();
      this.#dependents.set(uid, places.set(id, place));
    }
    if (change.type === "DELETED") {
      const uid = textAt(change.object, "metadata.uid");
      for (const [dependent, at] of this.#dependents.get(uid) ?? []) this.#todo.set(dependent, at);
      // An owner that waits in the foreground may have waited for this one.
      for (const owner of before) this.#queueOwner(owner, change.object);
    } else if (after.length > 0 || waits(change.object)) this.#todo.set(id, place);
  }

  /** Does what is to be done, including what that leads to. */
  work(): void {
    for (const [id, place] of this.#todo) {
      this.#todo.delete(id);
      this.#visit(place);
    }
  }

  #visit({ table, key }: Place): void {
    const resource = this.#resources.byTable(table);
    const object = this.#server.storage.get(table, key);
    if (resource === undefined || object === undefined) return;
    if (waits(object)) this.#finish(resource, object);
    const owners = ownersOf(object);
    const lost = owners.filter((owner) => this.#isGone(owner, object));
    if (lost.length === 0) return;
    if (lost.length === owners.length) {
      if (!isTerminating(object)) this.#server.delete(resource, keyOf(object), { propagation: "Background" });
      return;
    }
    this.#keepOwners(resource, object, (owner) => !lost.includes(owner));
  }

  /** The steps of a deletion that the collector owes: free or delete the dependents, then let the owner go. */
  #finish(resource: Resource, object: JsonObject): void {
    const uid = textAt(object, "metadata.uid");
    const dependents = this.#dependentsOf(uid);
    const finalizers = stringsAt(object, "metadata.finalizers");
    if (finalizers.includes(orphan)) {
      for (const dependent of dependents) {
        this.#keepOwners(dependent.resource, dependent.object, (owner) => textAt(owner, "uid") !== uid);
      }
      this.#removeFinalizer(resource, object, orphan);
      return;
    }
    for (const dependent of dependents) {
      const others = ownersOf(dependent.object).filter((owner) => textAt(owner, "uid") !== uid);
      const isShared = others.some((owner) => !this.#isGone(owner, dependent.object));
      if (isShared) this.#keepOwners(dependent.resource, dependent.object, (owner) => textAt(owner, "uid") !== uid);
      else if (!isTerminating(dependent.object)) this.#server.delete(dependent.resource, keyOf(dependent.object), {});
    }
    const blocking = this.#dependentsOf(uid).some(({ object: dependent }) =>
      ownersOf(dependent).some(
        (owner) => textAt(owner, "uid") === uid && valueAt(owner, "blockOwnerDeletion") === true,
      ),
    );
    if (!blocking) this.#removeFinalizer(resource, object, foreground);
  }

  #dependentsOf(uid: string): { resource: Resource; object: JsonObject }[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])].flatMap(({ table, key }) => {
      const resource = this.#resources.byTable(table);
      const object = this.#server.storage.get(table, key);
      return resource === undefined || object === undefined ? [] : [{ resource, object }];
    });
  }

  /** An owner of a kind that is not served here cannot be judged, and is taken to be there. */
  #isGone(owner: Json, dependent: JsonObject): boolean {
    const place = this.#placeOf(owner, dependent);
    if (place === undefined) return false;
    return textAt(this.#server.storage.get(place.table, place.key), "metadata.uid") !== textAt(owner, "uid");
  }

  #queueOwner(owner: Json, dependent: JsonObject): void {
    const place = this.#placeOf(owner, dependent);
    const object = place === undefined ? undefined : this.#server.storage.get(place.table, place.key);
    if (place !== undefined && object !== undefined && waits(object)) this.#todo.set(idOf(place), place);
  }

  #placeOf(owner: Json, dependent: JsonObject): Place | undefined {
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

  #removeFinalizer(resource: Resource, object: JsonObject, finalizer: string): void {
    const current = this.#server.storage.get(resource.table, placeKey(object)) ?? object;
    const next = copyObject(current);
    metadataOf(next)["finalizers"] = stringsAt(current, "metadata.finalizers").filter((name) => name !== finalizer);
    this.#server.store(resource, current, next);
  }
}

const idOf = (place: Place): string => `${place.table} ${place.key}`;

const keyOf = (object: JsonObject): { namespace: string; name: string } => ({
  namespace: textAt(object, "metadata.namespace"),
  name: textAt(object, "metadata.name"),
});

const placeKey = (object: JsonObject): string => storageKey(keyOf(object).namespace, keyOf(object).name);

function ownersOf(object: JsonObject): Json[] {
  const owners = valueAt(object, "metadata.ownerReferences");
  return Array.isArray(owners) ? owners.filter(isJsonObject) : [];
}

const waits = (object: JsonObject): boolean =>
  isTerminating(object) &&
  stringsAt(object, "metadata.finalizers").some((name) => name === foreground || name === orphan);
