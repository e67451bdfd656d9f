// The inverse of `complete.ts`: keeps only what differs from the defaults, with sorted keys. Two objects that mean the
// same give the same value, and a release that adds a defaulted field changes nothing for objects stored before it.
import { isJsonObject, isAbsent, type JsonObject, present } from "./complete.ts";
import type { Schema } from "./schema.ts";

/** Takes the schema of an object. The value may be as stored or with its defaults. */
export function sparse(schema: Schema, value: unknown): JsonObject {
  const kept = strip(schema, isJsonObject(value) ? value : {});
  return isJsonObject(kept) ? kept : {};
}

/** A field, or undefined where leaving it out means the same. */
function field(schema: Schema, value: unknown): unknown {
  if (isAbsent(schema, present(schema, value))) return undefined;
  const kept = strip(schema, value);
  if (schema.presence === "optional") return kept;
  const fallback = schema.shape.t === "object" ? {} : strip(schema, schema.default);
  return sameJson(kept, fallback) ? undefined : kept;
}

/** An entry of a list or map counts even when it equals a default: without it there would be one fewer. */
function entry(schema: Schema, value: unknown): unknown {
  return strip(schema, value) ?? (schema.presence === "optional" ? undefined : strip(schema, schema.default ?? {}));
}

function strip(schema: Schema, value: unknown): unknown {
  const clean = present(schema, value);
  const { shape } = schema;
  if (shape.t === "object" && isJsonObject(clean))
    return sorted(Object.entries(shape.fields).map(([name, inner]) => [name, field(inner, clean[name])]));
  if (shape.t === "array" && Array.isArray(clean)) return clean.map((item) => entry(shape.items, item));
  if (shape.t === "map" && isJsonObject(clean))
    return sorted(Object.entries(clean).map(([key, item]) => [key, item === "" ? item : entry(shape.values, item)]));
  return inOrder(clean);
}

/** Kubernetes' own types: their defaults are the API server's, so only the order of keys is ours to settle. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  return isJsonObject(value) ? sorted(Object.entries(value).map(([key, inner]) => [key, inOrder(inner)])) : value;
}

function sorted(entries: readonly (readonly [string, unknown])[]): JsonObject {
  const kept = entries.filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

// Both sides have sorted keys.
const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
