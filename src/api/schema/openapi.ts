// Turns a schema into the structural OpenAPI schema of a CustomResourceDefinition. Nothing is `nullable`: the API server
// drops a null where none is allowed, instead of refusing it. No field has a `default` either, so that the stored spec
// stays as the person wrote it; `complete.ts` fills in defaults, and the descriptions name them.
import type { Fields, Schema, Shape } from "./schema.ts";
import { defined } from "../../defined.ts";

export interface OpenApiSchema {
  type?: "string" | "integer" | "boolean" | "array" | "object";
  format?: "int64" | "date-time";
  description?: string;
  /** Fields of an object that say that nobody has written it. */
  default?: Readonly<Record<string, number>>;
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  items?: OpenApiSchema;
  properties?: Record<string, OpenApiSchema>;
  additionalProperties?: OpenApiSchema;
  required?: string[];
  "x-kubernetes-list-type"?: "atomic" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-preserve-unknown-fields"?: true;
  "x-kubernetes-validations"?: { rule: string; message: string; optionalOldSelf?: boolean }[];
}

export function openApiOf(schema: Schema): OpenApiSchema {
  const validations = schema.rules.flatMap(({ cel, says }) =>
    cel === undefined ? [] : [{ rule: cel, message: says }],
  );
  return {
    description: fullDescription(schema),
    ...openApiOfShape(schema.shape),
    ...(validations.length > 0 && { "x-kubernetes-validations": validations }),
  };
}

/** The description with the Kubernetes type and the default, which `kubectl explain` does not show by itself. */
function fullDescription(schema: Schema): string {
  const { description, shape } = schema;
  const kubernetes =
    shape.t === "embedded"
      ? shape.type === "array"
        ? ` A list of Kubernetes ${shape.name} objects.`
        : ` A Kubernetes ${shape.name} object.`
      : "";
  const otherwise = defaultText(schema);
  return `${description}${kubernetes}${otherwise === undefined ? "" : ` Default: ${otherwise}.`}`;
}

/** Undefined where the default is empty, zero or false: that goes without saying. */
export function defaultText({ presence, default: value }: Schema): string | undefined {
  if (presence !== "defaulted") return undefined;
  return (typeof value === "string" || typeof value === "number") && value !== "" && value !== 0
    ? String(value)
    : undefined;
}

function openApiOfShape(shape: Shape): OpenApiSchema {
  switch (shape.t) {
    case "string":
      return {
        type: "string",
        ...defined({ maxLength: shape.longest, enum: shape.oneOf, format: shape.format }),
      };
    case "integer":
      return {
        type: "integer",
        format: "int64",
        ...defined({ minimum: shape.min, maximum: shape.max }),
      };
    case "boolean":
      return { type: "boolean" };
    case "array":
      return {
        type: "array",
        items: openApiOf(shape.items),
        ...(shape.most !== undefined && { maxItems: shape.most }),
        ...(shape.key === undefined
          ? { "x-kubernetes-list-type": "atomic" }
          : { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [shape.key] }),
      };
    case "map":
      return {
        type: "object",
        additionalProperties: openApiOf(shape.values),
        ...(shape.most !== undefined && { maxProperties: shape.most }),
      };
    case "object":
      return { type: "object", ...openApiOfFields(shape.fields) };
    case "embedded":
      return shape.type === "object"
        ? { type: "object", "x-kubernetes-preserve-unknown-fields": true }
        : {
            type: "array",
            "x-kubernetes-list-type": "atomic",
            items: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          };
    case "ignored":
      break;
  }
  return { "x-kubernetes-preserve-unknown-fields": true };
}

function openApiOfFields(fields: Fields): OpenApiSchema {
  const entries = Object.entries(fields);
  const required = entries.filter(([, schema]) => schema.presence === "required").map(([name]) => name);
  const unwritten = entries.flatMap(([name, { shape }]) =>
    shape.t === "integer" && shape.unwritten !== undefined ? [[name, shape.unwritten] as const] : [],
  );
  return {
    ...(required.length > 0 && { required }),
    ...(unwritten.length > 0 && { default: Object.fromEntries(unwritten) }),
    properties: Object.fromEntries(entries.map(([name, schema]) => [name, openApiOf(schema)])),
  };
}
