// Fills in the defaults of an object. Null, empty strings, lists, maps and objects count as left out, because Go clients
// send them for fields that nobody set. A value of the wrong type counts as left out too: `check.ts` reports it.
import type { Fields, Schema } from "./schema.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Takes the schema of an object. */
export function complete<S, C extends object>(schema: Schema<S, C>, value: unknown): C {
  // The walk gives every field the type that its builder promised; the compiler cannot follow it there.
  return present(schema, isJsonObject(value) ? value : {}) as C;
}

function entryOf(schema: Schema, value: unknown): unknown {
  return present(schema, value) ?? fallbackOf(schema);
}

/** Unlike an entry of a list or map, a field that is empty says nothing. */
function fieldOf(schema: Schema, value: unknown): unknown {
  const clean = present(schema, value);
  return isAbsent(schema, clean) ? fallbackOf(schema) : clean;
}

function fallbackOf({ presence, shape, default: value }: Schema): unknown {
  if (presence === "optional") return undefined;
  return shape.t === "object" ? objectOf(shape.fields, {}) : value;
}

/** Takes what `present` returned. */
export function isAbsent({ shape, presence }: Schema, clean: unknown): boolean {
  if (clean === undefined) return true;
  switch (shape.t) {
    case "array":
    case "map":
      return isEmpty(clean);
    case "object":
      // With its defaults inside, a defaulted object is never empty by chance.
      return presence === "optional" && isEmpty(clean);
    case "embedded":
      return shape.emptyIsAbsent && isEmpty(clean);
    case "string":
    case "integer":
    case "boolean":
    case "ignored":
      break;
  }
  return false;
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** The part of the value that has the right type; undefined when nothing has. */
export function present(schema: Schema, value: unknown): unknown {
  const { shape } = schema;
  switch (shape.t) {
    case "string":
      return typeof value === "string" && value !== "" ? value : undefined;
    case "integer":
      return Number.isSafeInteger(value) && value !== shape.unwritten ? value : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "array":
      return Array.isArray(value) ? value.map((item) => entryOf(shape.items, item)).filter(isSomething) : undefined;
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
  const entries = Object.entries(map).map(
    ([key, value]) => [key, value === "" ? value : entryOf(values, value)] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => isSomething(value)));
}

function objectOf(fields: Fields, object: JsonObject): JsonObject {
  const entries = Object.entries(fields).map(([name, schema]) => [name, fieldOf(schema, object[name])] as const);
  return Object.fromEntries(entries.filter(([, value]) => isSomething(value)));
}

const isSomething = (value: unknown): boolean => value !== undefined;
