// Says in sentences what is wrong with an object, by its schema. The API server refuses the same; this finds it in
// objects that were stored before the schema existed.
import { isJsonObject, present } from "./complete.ts";
import type { Schema, Shape } from "./schema.ts";

/** `path` names the field in the sentences: `spec.pod.labels`. */
export function check(schema: Schema, value: unknown, path: string): string[] {
  if (isLeftOut(schema, value)) return schema.presence === "required" ? [`${path} is missing: it must be set.`] : [];
  const ofShape = checkShape(schema.shape, value, path);
  if (ofShape.type !== undefined) return [ofShape.type];
  const clean = present(schema, value);
  const broken = schema.rules.filter((rule) => !rule.holds(clean)).map((rule) => rule.says);
  return [...ofShape.bounds, ...broken, ...ofShape.inside];
}

// Go clients send null and empty strings for fields that nobody set.
function isLeftOut({ shape }: Schema, value: unknown): boolean {
  return value === undefined || value === null || (shape.t === "string" && value === "") || shape.t === "ignored";
}

interface Findings {
  /** Set when the type is wrong; then nothing else is checked. */
  readonly type?: string;
  readonly bounds: readonly string[];
  readonly inside: readonly string[];
}

const wrongType = (path: string, wanted: string): Findings => ({
  type: `${path} must be ${wanted}.`,
  bounds: [],
  inside: [],
});

function checkShape(shape: Shape, value: unknown, path: string): Findings {
  switch (shape.t) {
    case "string":
      return typeof value === "string" ? onlyBounds(stringBounds(shape, value, path)) : wrongType(path, "a string");
    case "integer":
      return typeof value === "number" && Number.isSafeInteger(value)
        ? onlyBounds(integerBounds(shape, value, path))
        : wrongType(path, "a whole number");
    case "boolean":
      return typeof value === "boolean" ? onlyBounds([]) : wrongType(path, "true or false");
    case "array":
      if (!Array.isArray(value)) return wrongType(path, "a list");
      return {
        bounds: countBound(shape.most, value.length, path),
        inside: value.flatMap((item, at) => check(shape.items, item, `${path}[${at}]`)),
      };
    case "map":
      if (!isJsonObject(value)) return wrongType(path, "an object");
      return {
        bounds: countBound(shape.most, Object.keys(value).length, path),
        inside: Object.entries(value).flatMap(([key, item]) => check(shape.values, item, `${path}[${key}]`)),
      };
    case "object":
      if (!isJsonObject(value)) return wrongType(path, "an object");
      return {
        bounds: [],
        inside: Object.entries(shape.fields).flatMap(([name, field]) => check(field, value[name], `${path}.${name}`)),
      };
    case "embedded":
      if (shape.type === "array") return Array.isArray(value) ? onlyBounds([]) : wrongType(path, "a list");
      return isJsonObject(value) ? onlyBounds([]) : wrongType(path, "an object");
    case "ignored":
      break;
  }
  return onlyBounds([]);
}

const onlyBounds = (bounds: readonly string[]): Findings => ({ bounds, inside: [] });

function stringBounds(shape: Extract<Shape, { t: "string" }>, value: string, path: string): string[] {
  if (shape.oneOf !== undefined && !shape.oneOf.includes(value))
    return [`${path} must be one of: ${shape.oneOf.join(", ")}.`];
  if (shape.longest !== undefined && value.length > shape.longest)
    return [`${path} must not be longer than ${shape.longest} characters.`];
  return [];
}

function integerBounds({ min, max }: Extract<Shape, { t: "integer" }>, value: number, path: string): string[] {
  if (min !== undefined && value < min) return [`${path} must be at least ${min}.`];
  if (max !== undefined && value > max) return [`${path} must be at most ${max}.`];
  return [];
}

function countBound(most: number | undefined, count: number, path: string): string[] {
  return most !== undefined && count > most ? [`${path} must not have more than ${most} entries.`] : [];
}
