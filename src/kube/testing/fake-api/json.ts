// Kubernetes objects as the API server sees them: plain JSON trees, copied at every border so that no caller can
// reach into what is stored.

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [field: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A deep copy of what would survive JSON: fields that are undefined are gone. */
export function copyJson(value: unknown): Json {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return value;
  }
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : copyJson(item)));
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object") throw new TypeError(`a ${typeof value} has no JSON form`);
  const copy: JsonObject = {};
  for (const [field, inner] of Object.entries(value)) if (inner !== undefined) copy[field] = copyJson(inner);
  return copy;
}

export function copyObject(value: object): JsonObject {
  const copy = copyJson(value);
  if (!isJsonObject(copy)) throw new TypeError("not an object");
  return copy;
}

export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const fields = Object.keys(a);
  return (
    fields.length === Object.keys(b).length && fields.every((field) => field in b && equalJson(a[field], b[field]))
  );
}

/** The value at a path such as `spec.nodeName`; undefined when any step is missing. */
export function valueAt(value: Json | undefined, path: string): Json | undefined {
  let at = value;
  for (const field of path.split(".")) at = isJsonObject(at) ? at[field] : undefined;
  return at;
}

export function objectAt(value: Json | undefined, path: string): JsonObject {
  const at = valueAt(value, path);
  return isJsonObject(at) ? at : {};
}

export function textAt(value: Json | undefined, path: string): string {
  const at = valueAt(value, path);
  return at === undefined || at === null ? "" : typeof at === "object" ? JSON.stringify(at) : String(at);
}

export function metadataOf(object: JsonObject): JsonObject {
  const metadata = object["metadata"];
  if (isJsonObject(metadata)) return metadata;
  const made: JsonObject = {};
  object["metadata"] = made;
  return made;
}

export function stringsAt(object: JsonObject, path: string): string[] {
  const value = valueAt(object, path);
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** JSON merge patch (RFC 7396): null removes, objects merge, everything else replaces. */
export function mergePatched(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return copyJson(patch);
  const merged: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = mergePatched(merged[field], value);
  }
  return merged;
}

/** The API server drops nulls from what it decodes. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  for (const [field, inner] of Object.entries(value)) if (inner !== null) kept[field] = withoutNulls(inner);
  return kept;
}
