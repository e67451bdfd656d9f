// The API reference as Markdown, made from the descriptions of our kinds.
import type { KindDescription } from "../kind-description.ts";
import { defaultText } from "../schema/openapi.ts";
import type { Schema, Shape } from "../schema/schema.ts";

export function apiReference(kinds: readonly KindDescription[]): string {
  return `# API reference

<!-- Made by \`node src/api/generate.ts\`. Change the schemas in src/api, not this file. -->

${kinds.map(referenceOf).join("\n")}`;
}

function referenceOf(description: KindDescription): string {
  const { kind, names, spec, status, introduction } = description;
  const scope = kind.namespaced ? "namespaced" : "cluster-scoped";
  return `## ${kind.kind}

\`apiVersion: ${kind.group}/${kind.version}\`, \`kind: ${kind.kind}\`, ${scope}; \`kubectl get ${names.shortNames[0] ?? names.singular}\`.

${introduction}

### ${kind.kind}: spec

${table(spec, "spec")}

### ${kind.kind}: status

${table(status, "status")}

### ${kind.kind}: what is refused

The API server refuses an object that breaks a rule, with one of these sentences. An object that was stored before the
rule existed stays as it is, and the operator writes the same sentence into its status.

${refusalsOf(description)
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

/** Every sentence that a rule refuses an object of the kind with. */
export function refusalsOf({ nameRules, spec }: KindDescription): string[] {
  return [...nameRules.map((rule) => rule.says), ...sentencesIn(spec)];
}

function sentencesIn(schema: Schema): string[] {
  const { shape } = schema;
  const inside = shape.t === "object" ? Object.values(shape.fields) : shape.t === "array" ? [shape.items] : [];
  return [...schema.rules.map((rule) => rule.says), ...inside.flatMap(sentencesIn)];
}
