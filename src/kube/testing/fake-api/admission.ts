// What happens to an object between a request and the store: fields that only the server sets, the wall between spec
// and status, the generation, and the refusals of what no kind allows.
import type { Subresource } from "../../client/api.ts";
import { secondsTime } from "../../objects/objects.ts";
import {
  copyObject,
  equalJson,
  isJsonObject,
  metadataOf,
  stringsAt,
  textAt,
  type JsonObject,
  valueAt,
  withoutNulls,
} from "./json.ts";
import { badRequest, conflict, internalError, invalid } from "./refusals.ts";
import type { Resource } from "./resources.ts";

export interface Birth {
  readonly uid: string;
  readonly date: Date;
  /** Five characters that make a generated name unique. */
  readonly suffix: string;
}

/** What the server makes of an object that it is asked to create. */
export function admitNew(resource: Resource, asked: JsonObject, birth: Birth): JsonObject {
  const object = decode(resource, asked);
  const metadata = metadataOf(object);
  if (textAt(metadata, "resourceVersion") !== "") {
    throw internalError("resourceVersion should not be set on objects to be created");
  }
  if (textAt(metadata, "name") === "" && textAt(metadata, "generateName") !== "") {
    metadata["name"] = `${textAt(metadata, "generateName")}${birth.suffix}`;
  }
  if (resource.namespaced && textAt(metadata, "namespace") === "") {
    throw badRequest("an empty namespace may not be set during creation");
  }
  if (!resource.namespaced) delete metadata["namespace"];
  delete metadata["deletionTimestamp"];
  delete metadata["deletionGracePeriodSeconds"];
  delete metadata["generation"];
  metadata["uid"] = birth.uid;
  metadata["creationTimestamp"] = secondsTime(birth.date);
  if (resource.generation) metadata["generation"] = 1;
  const { finalizers = [] } = resource.registered;
  if (finalizers.length > 0)
    metadata["finalizers"] = [...new Set([...stringsAt(object, "metadata.finalizers"), ...finalizers])];
  if (resource.status) delete object["status"];
  if (resource.firstStatus !== undefined) object["status"] = copyObject(resource.firstStatus);
  return checked(resource, object, undefined);
}

/** The object that an update leads to; `subresource` says which half of it the request may touch. */
export function admitUpdate(
  resource: Resource,
  old: JsonObject,
  proposed: JsonObject,
  subresource: "" | Subresource,
): JsonObject {
  const decoded = decode(resource, proposed);
  const object = subresource === "status" ? onlyStatus(old, decoded) : decoded;
  if (subresource !== "status" && resource.status) copyField(old, object, "status");
  const metadata = metadataOf(object);
  const before = metadataOf(copyObject(old));
  const name = textAt(before, "name");
  const uid = textAt(metadata, "uid");
  if (uid !== "" && uid !== textAt(before, "uid")) throw invalid(resource, name, "metadata.uid", "field is immutable");
  for (const field of serverFields) copyField(before, metadata, field);
  const added = stringsAt(object, "metadata.finalizers").filter(
    (finalizer) => !stringsAt(old, "metadata.finalizers").includes(finalizer),
  );
  if (before["deletionTimestamp"] !== undefined && added.length > 0) {
    const why = "Forbidden: no new finalizers can be added if the object is being deleted";
    throw invalid(resource, name, "metadata.finalizers", why);
  }
  const next = checked(resource, object, old);
  const refusal = subresource === "" ? resource.forbids?.(next, old) : undefined;
  if (refusal !== undefined) throw invalid(resource, name, refusal.field, refusal.why);
  if (resource.generation && !equalJson(desired(resource, next), desired(resource, old))) {
    metadataOf(next)["generation"] = Number(before["generation"] ?? 0) + 1;
  }
  return next;
}

const serverFields = [
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
];

/** An object with a uid or resource version names the very one that it means. */
export function checkIdentity(resource: Resource, old: JsonObject, uid: string, resourceVersion: string): void {
  const name = textAt(old, "metadata.name");
  const is = { uid: textAt(old, "metadata.uid"), resourceVersion: textAt(old, "metadata.resourceVersion") };
  if (uid !== "" && uid !== is.uid) {
    throw conflict(resource, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${is.uid}`);
  }
  if (resourceVersion !== "" && resourceVersion !== is.resourceVersion) {
    const why = `ResourceVersion in precondition: ${resourceVersion}, in object meta: ${is.resourceVersion}`;
    throw conflict(resource, name, `Precondition failed: ${why}`);
  }
}

export const isTerminating = (object: JsonObject): boolean =>
  valueAt(object, "metadata.deletionTimestamp") !== undefined;

/** A terminating object goes when nobody holds it any more: no finalizer, and no grace that runs. */
export const isReleased = (object: JsonObject): boolean =>
  isTerminating(object) &&
  stringsAt(object, "metadata.finalizers").length === 0 &&
  Number(valueAt(object, "metadata.deletionGracePeriodSeconds") ?? 0) === 0;

function decode(resource: Resource, asked: JsonObject): JsonObject {
  const object = copyObject(asked);
  const kept = withoutNulls(object);
  const decoded: JsonObject = {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    ...(isJsonObject(kept) ? kept : {}),
  };
  if (decoded["apiVersion"] !== resource.apiVersion || decoded["kind"] !== resource.kind) {
    throw badRequest(`the object is not a ${resource.kind} of ${resource.apiVersion}`);
  }
  resource.decode?.(decoded);
  for (const path of resource.microTimes) {
    const time = valueAt(decoded, path);
    if (typeof time === "string" && !microTime.test(time)) {
      throw badRequest(`${path}: parsing time "${time}" as a time with exactly six digits after the second`);
    }
  }
  return decoded;
}

const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

function checked(resource: Resource, object: JsonObject, previous: JsonObject | undefined): JsonObject {
  const { registered } = resource;
  const name = textAt(object, "metadata.name");
  if (name === "") throw invalid(resource, name, "metadata.name", "name or generateName is required");
  if (name.length > 253 || !subdomain.test(name)) {
    throw invalid(resource, name, "metadata.name", "a lowercase RFC 1123 subdomain is required");
  }
  const labels = valueAt(object, "metadata.labels");
  for (const [key, value] of Object.entries(isJsonObject(labels) ? labels : {})) {
    if (typeof value !== "string") throw badRequest(`metadata.labels.${key} is not a string`);
    if (value.length > 63 || !labelValue.test(value)) {
      throw invalid(resource, name, "metadata.labels", `"${value}" is not a valid label value`);
    }
  }
  const owners = valueAt(object, "metadata.ownerReferences");
  for (const owner of Array.isArray(owners) ? owners : []) {
    for (const field of ["apiVersion", "kind", "name", "uid"]) {
      if (textAt(owner, field) === "") {
        throw invalid(resource, name, `metadata.ownerReferences.${field}`, "must not be empty");
      }
    }
  }
  const wrong = registered.validate?.(object, previous);
  if (wrong !== undefined) throw invalid(resource, name, "spec", wrong);
  return object;
}

function onlyStatus(old: JsonObject, proposed: JsonObject): JsonObject {
  const object = copyObject(old);
  copyField(proposed, object, "status");
  const metadata = metadataOf(object);
  const uid = valueAt(proposed, "metadata.uid");
  if (uid !== undefined) metadata["uid"] = uid;
  copyField(metadataOf(proposed), metadata, "managedFields");
  return object;
}

function copyField(from: JsonObject, to: JsonObject, field: string): void {
  const value = from[field];
  if (value === undefined) delete to[field];
  else to[field] = value;
}

/** The part of an object whose change counts as a new generation. */
function desired(resource: Resource, object: JsonObject): JsonObject {
  const { metadata: _metadata, ...rest } = object;
  if (resource.status) delete rest["status"];
  return rest;
}
