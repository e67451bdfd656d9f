// The in-memory API server itself: each verb in one synchronous step on the store, with the answers of the real one.
// Time, faults and watches are laid around it by `fake-api.ts`.
import { randomBytes, randomUUID } from "node:crypto";
import type { DeleteOptions, ListOptions, Subresource } from "../../client/api.ts";
import { secondsTime, type Key } from "../../objects/objects.ts";
import { admitNew, admitUpdate, checkIdentity, isReleased, isTerminating, type Birth } from "./admission.ts";
import {
  copyObject,
  isJsonObject,
  mergePatched,
  metadataOf,
  textAt,
  type JsonObject,
  valueAt,
  withoutNulls,
} from "./json.ts";
import { listPage, storageKey, type Listing } from "./listing.ts";
import { applyTo, isSameButTimes, recordUpdate, type Writer } from "./managed-fields.ts";
import { alreadyExists, badRequest, conflict, invalid, modifiedSince, noSuchResource, notFound } from "./refusals.ts";
import type { Resource } from "./resources.ts";
import type { Storage } from "./storage.ts";

export interface Write {
  readonly manager: string;
  readonly subresource: "" | Subresource;
  readonly dryRun: boolean;
}

export class ApiServer {
  readonly storage: Storage;
  readonly #date: () => Date;

  constructor(storage: Storage, date: () => Date) {
    this.storage = storage;
    this.#date = date;
  }

  get(resource: Resource, key: Key, revision: number): JsonObject {
    const object = this.storage.getAt(resource.table, storageKey(key.namespace, key.name), revision);
    if (object === undefined) throw notFound(resource, key.name);
    return object;
  }

  list(resource: Resource, options: ListOptions, present: number): Listing {
    return listPage(this.storage, resource, options, present);
  }

  create(resource: Resource, asked: JsonObject, write: Write): JsonObject {
    if (write.subresource !== "") throw noSuchResource();
    const object = admitNew(resource, asked, this.#birth());
    delete metadataOf(object)["managedFields"];
    recordUpdate(undefined, object, this.#writer(resource, write, "Update"), resource.shape);
    return this.#add(resource, object, write);
  }

  replace(resource: Resource, asked: JsonObject, write: Write): JsonObject {
    checkSubresource(resource, write.subresource);
    const key = keyIn(asked);
    if (key.name === "") throw badRequest("the name of the object is required");
    const old = this.#find(resource, key);
    if (old === undefined) {
      if (!resource.createOnUpdate || write.subresource !== "") throw notFound(resource, key.name);
      if (textAt(asked, "metadata.uid") !== "") throw conflict(resource, key.name, "Precondition failed: UID");
      // Even with a resource version: the real server recreates the object.
      const fresh = copyObject(asked);
      delete metadataOf(fresh)["resourceVersion"];
      return this.create(resource, fresh, write);
    }
    const version = lockIn(asked);
    if (version === "" && !resource.unconditionalUpdate) {
      throw invalid(resource, key.name, "metadata.resourceVersion", "must be specified for an update");
    }
    checkIdentity(resource, old, textAt(asked, "metadata.uid"), "");
    if (version !== "" && version !== textAt(old, "metadata.resourceVersion")) throw modifiedSince(resource, key.name);
    return this.#update(resource, old, asked, write);
  }

  mergePatch(resource: Resource, key: Key, patch: JsonObject, write: Write): JsonObject {
    checkSubresource(resource, write.subresource);
    const old = this.#existing(resource, key);
    const version = lockIn(patch);
    if (version !== "" && version !== textAt(old, "metadata.resourceVersion")) throw modifiedSince(resource, key.name);
    const patched = mergePatched(old, patch);
    if (!isJsonObject(patched)) throw badRequest("the patch is not an object");
    if (textAt(patched, "metadata.name") !== key.name) {
      throw badRequest("the name of the object does not match the name on the URL");
    }
    if (textAt(patched, "metadata.namespace") !== key.namespace) {
      throw badRequest("the namespace of the object does not match the namespace of the request");
    }
    return this.#update(resource, old, patched, write);
  }

  apply(resource: Resource, asked: JsonObject, write: Write & { readonly force: boolean }): JsonObject {
    checkSubresource(resource, write.subresource);
    const key = keyIn(asked);
    if (key.name === "") throw badRequest("the name of the object is required");
    const applied = decoded(asked);
    if (textAt(applied, "metadata.managedFields") !== "") throw badRequest("metadata.managedFields must be nil");
    const { uid, resourceVersion } = identityIn(applied);
    const old = this.#find(resource, key);
    if (old === undefined) {
      if (write.subresource !== "") throw notFound(resource, key.name);
      if (uid !== "") throw conflict(resource, key.name, "uid mismatch: no existing object was found");
      // A resource version is no lock here: the real server recreates the object.
    } else {
      if (resourceVersion !== "" && resourceVersion !== textAt(old, "metadata.resourceVersion")) {
        throw modifiedSince(resource, key.name);
      }
      if (uid !== "" && uid !== textAt(old, "metadata.uid")) {
        throw invalid(resource, key.name, "metadata.uid", "field is immutable");
      }
    }
    const live = old ?? { metadata: { ...(resource.namespaced ? { namespace: key.namespace } : {}), name: key.name } };
    const writer = this.#writer(resource, write, "Apply");
    const result = applyTo({
      live,
      applied: touchable(resource, applied, write.subresource),
      writer,
      shape: resource.shape,
      force: write.force,
    });
    if (old !== undefined)
      return this.#commit(resource, old, admitUpdate(resource, old, result, write.subresource), write);
    return this.#add(resource, admitNew(resource, result, this.#birth()), write);
  }

  delete(resource: Resource, key: Key, options: DeleteOptions): void {
    const old = this.#existing(resource, key);
    checkIdentity(resource, old, options.uid ?? "", options.resourceVersion ?? "");
    if (options.dryRun === true) return;
    const object = copyObject(old);
    const metadata = metadataOf(object);
    const grace = resource.graceful ? graceOf(object, options.gracePeriodSeconds) : 0;
    if (!isTerminating(object)) {
      metadata["deletionTimestamp"] = secondsTime(new Date(this.#date().getTime() + grace * 1000));
      metadata["deletionGracePeriodSeconds"] = grace;
      if (typeof metadata["generation"] === "number") metadata["generation"] += 1;
    } else if (grace < Number(metadata["deletionGracePeriodSeconds"] ?? 0)) {
      metadata["deletionGracePeriodSeconds"] = grace;
    }
    this.store(resource, old, object);
  }

  /** Writes what the server's own controllers decide: no checks, no owners of fields. */
  store(resource: Resource, old: JsonObject, next: JsonObject): JsonObject {
    const { namespace, name } = keyIn(old);
    const key = storageKey(namespace, name);
    if (isReleased(next)) {
      // The real server deletes the stored version without writing the last update, and answers with the update.
      this.storage.remove(resource.table, key);
      return next;
    }
    return isSameButTimes(old, next) ? old : this.storage.put(resource.table, key, next);
  }

  #add(resource: Resource, object: JsonObject, write: Write): JsonObject {
    const { namespace, name } = keyIn(object);
    if (this.#find(resource, { namespace, name }) !== undefined) throw alreadyExists(resource, name);
    return write.dryRun ? object : this.storage.put(resource.table, storageKey(namespace, name), object);
  }

  #update(resource: Resource, old: JsonObject, proposed: JsonObject, write: Write): JsonObject {
    const next = admitUpdate(resource, old, proposed, write.subresource);
    recordUpdate(old, next, this.#writer(resource, write, "Update"), resource.shape);
    return this.#commit(resource, old, next, write);
  }

  #commit(resource: Resource, old: JsonObject, next: JsonObject, write: Write): JsonObject {
    if (write.dryRun) return next;
    return this.store(resource, old, next);
  }

  #find(resource: Resource, key: Key): JsonObject | undefined {
    return this.storage.get(resource.table, storageKey(key.namespace, key.name));
  }

  #existing(resource: Resource, key: Key): JsonObject {
    const object = this.#find(resource, key);
    if (object === undefined) throw notFound(resource, key.name);
    return object;
  }

  #birth(): Birth {
    return { uid: randomUUID(), date: this.#date(), suffix: randomBytes(5).toString("hex").slice(0, 5) };
  }

  #writer(resource: Resource, write: Write, operation: "Apply" | "Update"): Writer {
    const { manager, subresource } = write;
    return { manager, operation, apiVersion: resource.apiVersion, subresource, time: secondsTime(this.#date()) };
  }
}

function checkSubresource(resource: Resource, subresource: "" | Subresource): void {
  if (subresource === "status" && !resource.status) throw noSuchResource();
  if (subresource === "resize" && resource.table !== "v1/pods") throw noSuchResource();
}

/** The version that a write insists on; 0 stands for none. */
function lockIn(asked: JsonObject): string {
  const version = textAt(asked, "metadata.resourceVersion");
  return version === "0" ? "" : version;
}

/** What nobody runs, or runs no more, needs no grace. */
function graceOf(object: JsonObject, asked: number | undefined): number {
  const isRunning =
    textAt(object, "spec.nodeName") !== "" && !/^(Failed|Succeeded)$/.test(textAt(object, "status.phase"));
  if (textAt(object, "kind") === "Pod" && !isRunning) return 0;
  return asked ?? Number(valueAt(object, "spec.terminationGracePeriodSeconds") ?? 30);
}

function keyIn(object: JsonObject): Key {
  return { namespace: textAt(object, "metadata.namespace"), name: textAt(object, "metadata.name") };
}

/** Takes uid and resource version out of an applied object: they say which one is meant, and are not applied. */
function identityIn(applied: JsonObject): { uid: string; resourceVersion: string } {
  const metadata = metadataOf(applied);
  const identity = { uid: textAt(metadata, "uid"), resourceVersion: textAt(metadata, "resourceVersion") };
  delete metadata["uid"];
  delete metadata["resourceVersion"];
  return identity;
}

/** The fields of an applied object that this half of the resource takes; the rest is dropped silently. */
function touchable(resource: Resource, applied: JsonObject, subresource: "" | Subresource): JsonObject {
  if (subresource === "status") return applied["status"] === undefined ? {} : { status: applied["status"] };
  if (!resource.status) return applied;
  const { status: _status, ...rest } = applied;
  return rest;
}

function decoded(asked: JsonObject): JsonObject {
  const applied = withoutNulls(copyObject(asked));
  return isJsonObject(applied) ? applied : {};
}
