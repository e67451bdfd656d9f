// JSON schemas by which kubeconform checks manifests: of Kubernetes from its OpenAPI document, of our kinds from the CRDs. A field
// that a schema does not know is an error.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";
import type { Manifest } from "../../install/manifest.ts";

/** As far as it is read here. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly [field: string]: unknown;
}

interface Named {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const groupVersionKind = "x-kubernetes-group-version-kind";
const prefix = "#/definitions/";

/** Where kubeconform finds a schema: for the group v1 it says "v1" for the group, too. */
export const schemaLocation = (folder: string): string =>
  path.join(folder, "{{ .Group }}_{{ .ResourceAPIVersion }}_{{ .ResourceKind }}.json");

const fileOf = ({ group, version, kind }: Named): string =>
  `${group === "" ? version : group}_${version}_${kind.toLowerCase()}.json`;

/** Writes the schemas of all kinds in an OpenAPI document, each with the definitions that it refers to. */
export async function writeKubernetesSchemas(
  folder: string,
  swagger: string,
  kinds: ReadonlySet<string>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { definitions } = JSON.parse(await readFile(swagger, "utf8")) as { definitions: Record<string, Schema> };
  for (const [name, definition] of Object.entries(definitions))
    for (const named of (definition[groupVersionKind] ?? []) as Named[])
      if (kinds.has(named.kind)) {
        const needed = Object.fromEntries(
          [...reachable(name, definitions)].map((one) => [one, definitions[one] ?? {}]),
        );
        await writeFile(
          path.join(folder, fileOf(named)),
          JSON.stringify({ $ref: `${prefix}${name}`, definitions: mapped(needed) }),
        );
      }
}

function reachable(name: string, definitions: Readonly<Record<string, Schema>>, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const [, other = ""] of JSON.stringify(definitions[name]).matchAll(/"#\/definitions\/([^"]+)"/g))
    reachable(other, definitions, seen);
  return seen;
}

interface Crd {
  spec: { group: string; names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: Schema } }[] };
}

export async function writeCrdSchemas(folder: string, crds: readonly Manifest[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const crd of crds as readonly (Manifest & Crd)[])
    for (const { name, schema } of crd.spec.versions) {
      const named = { group: crd.spec.group, version: name, kind: crd.spec.names.kind };
      // The API server checks this part by itself, and a CRD says no more of it than "object".
      const { metadata: _, ...properties } = schema.openAPIV3Schema.properties ?? {};
      const known = { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" } };
      const whole = { ...schema.openAPIV3Schema, properties: { ...properties, ...known } };
      await writeFile(path.join(folder, fileOf(named)), JSON.stringify(strict(whole)));
    }
}

/** An object of which the properties are listed has no others; what Kubernetes reads from numbers and texts may be either. */
function strict(schema: Schema): Schema {
  if (schema.format === "int-or-string" || schema["x-kubernetes-int-or-string"] === true || isQuantity(schema))
    return { type: ["string", "number"] };
  const { properties, items, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(properties && { properties: mapped(properties) }),
    ...(isSchema(items) && { items: strict(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isSchema(additionalProperties) ? strict(additionalProperties) : additionalProperties,
    }),
    ...(isClosed(schema) && { additionalProperties: false }),
  };
}

const mapped = (schemas: Readonly<Record<string, Schema>>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, strict(schema)]));

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null;

const isQuantity = ({ description = "" }: Schema): boolean =>
  description.startsWith("Quantity is a fixed-point representation of a number");

const isClosed = (schema: Schema): boolean =>
  schema.properties !== undefined &&
  schema.additionalProperties === undefined &&
  schema["x-kubernetes-preserve-unknown-fields"] !== true;
