// Fills in what was left out of an object. Null and the empty string count as left out, since that is what Go clients
// send for fields that nobody set. What has the wrong type counts as left out too: `check.ts` is the one that tells.
import type { Fields, Schema } from "./schema.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Given the schema of an object. */
export function complete<S, C extends object>(schema: Schema<S, C>, value: unknown): C {
  // The walk gives every field the type that its builder promised; the compiler cannot follow it there.
  return present(schema, isJsonObject(value) ? value : {}) as C;
}

function walk(schema: Schema, value: unknown): unknown {
  return present(schema, value) ?? (schema.presence === "optional" ? undefined : whenLeftOut(schema));
}

function whenLeftOut(schema: Schema): unknown {
  return schema.shape.t === "object" ? objectOf(schema.shape.fields, {}) : schema.default;
}

/** What is there of it, cleaned; undefined when nothing is. */
export function present(schema: Schema, value: unknown): unknown {
  const { shape } = schema;
  switch (shape.t) {
    case "string":
      return typeof value === "string" && value !== "" ? value : undefined;
    case "integer":
      return Number.isSafeInteger(value) ? value : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "array":
      return Array.isArray(value) ? value.map((item) => walk(shape.items, item)).filter(isSomething) : undefined;
    case "map":
      return isJsonObject(value) ? mapOf(shape.values, value) : undefined;
    case "object":
      return isJsonObject(value) ? objectOf(shape.fields, value) : undefined;
    case "embedded":
      if (shape.type === "array") return Array.isArray(value) ? value.filter(isJsonObject) : undefined;
      return isJsonObject(value) ? value : undefined;
    case "ignored":
      break;
  }
  return undefined;
}

// Unlike a field, an entry was written on purpose: an empty label is a label.
function mapOf(values: Schema, map: JsonObject): JsonObject {
  const entries = Object.entries(map).map(([key, value]) => [key, value === "" ? value : walk(values, value)] as const);
  return Object.fromEntries(entries.filter(([, value]) => isSomething(value)));
}

function objectOf(fields: Fields, object: JsonObject): JsonObject {
  const entries = Object.entries(fields).map(([name, schema]) => [name, walk(schema, object[name])] as const);
  return Object.fromEntries(entries.filter(([, value]) => isSomething(value)));
}

const isSomething = (value: unknown): boolean => value !== undefined;
