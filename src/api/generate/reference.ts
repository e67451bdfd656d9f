// The reference of EtcdCluster for people, as Markdown, made from the same schema as everything else.
import { etcdClusterDefinition } from "../crd/crd.ts";
import { EtcdCluster } from "../etcd-cluster/etcd-cluster.ts";
import { nameRules } from "../etcd-cluster/rules.ts";
import { specSchema } from "../etcd-cluster/spec.ts";
import { statusSchema } from "../etcd-cluster/status.ts";
import { defaultText } from "../schema/openapi.ts";
import type { Schema, Shape } from "../schema/schema.ts";

export function etcdClusterReference(): string {
  const { names } = etcdClusterDefinition.spec;
  return `# EtcdCluster

<!-- Made by \`node src/api/generate.ts\`. Change the schema in src/api, not this file. -->

\`apiVersion: ${EtcdCluster.group}/${EtcdCluster.version}\`, \`kind: ${EtcdCluster.kind}\`, namespaced; \`kubectl get ${(names.shortNames ?? []).join(", ")}\`.

It is a superset of the API of the archived coreos/etcd-operator: a manifest of 2018 means what it meant. A field that is
left out, null or an empty string has its default. Defaults are filled in while the operator runs and are never written
into the stored object. \`kubectl explain etcdcluster.spec\` tells the same as this page.

## spec

${table(specSchema, "spec")}

## status

${table(statusSchema, "status")}

## What is refused

The API server refuses an object with one of these sentences. An object that was stored before the rule was is left as
it is, and the operator tells the same sentence in its status.

${refusals()
  .map((says) => `- ${says}`)
  .join("\n")}
`;
}

function table(root: Schema, path: string): string {
  const head = ["| Field | Type | Default | Meaning |", "|---|---|---|---|"];
  return [...head, ...rowsInside(root.shape, path)].join("\n");
}

function rowsInside(shape: Shape, path: string): string[] {
  if (shape.t === "array") return rowsInside(shape.items.shape, `${path}[]`);
  if (shape.t !== "object") return [];
  return Object.entries(shape.fields).flatMap(([name, schema]) => {
    const here = `${path}.${name}`;
    return [row(here, schema), ...rowsInside(schema.shape, here)];
  });
}

function row(path: string, schema: Schema): string {
  const otherwise = defaultText(schema);
  const fallback = schema.presence === "required" ? "required" : otherwise === undefined ? "" : `\`${otherwise}\``;
  return `| \`${path}\` | ${typeText(schema.shape)} | ${fallback} | ${schema.description.replaceAll("|", "\\|")} |`;
}

function typeText(shape: Shape): string {
  switch (shape.t) {
    case "string":
      return shape.oneOf === undefined ? "string" : shape.oneOf.map((value) => `\`${value}\``).join(" or ");
    case "array":
      return `list of ${typeText(shape.items.shape)}s`;
    case "map":
      return `map of ${typeText(shape.values.shape)}s`;
    case "embedded":
      return shape.type === "array" ? `list of ${shape.name}` : shape.name;
    case "integer":
    case "boolean":
    case "object":
      return shape.t;
    case "ignored":
      break;
  }
  return "anything";
}

/** Every sentence that a rule refuses an EtcdCluster with. */
export function refusals(): string[] {
  return [...nameRules.map((rule) => rule.says), ...sentencesIn(specSchema)];
}

function sentencesIn(schema: Schema): string[] {
  const { shape } = schema;
  const inside = shape.t === "object" ? Object.values(shape.fields) : shape.t === "array" ? [shape.items] : [];
  return [...schema.rules.map((rule) => rule.says), ...inside.flatMap(sentencesIn)];
}
