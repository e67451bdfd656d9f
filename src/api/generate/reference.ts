// The API reference as Markdown, made from the descriptions of our kinds.
import type { KindDescription } from "../kind-description.ts";
import { defaultText } from "../schema/openapi.ts";
import type { Schema, Shape } from "../schema/schema.ts";

export function apiReference(kinds: readonly KindDescription[]): string {
  return `# API reference

<!-- Made by \`node src/api/generate.ts\`. Change the schemas in src/api, not this file. -->

${kinds.map((description) => referenceOf(description, kinds)).join("\n")}`;
}

function referenceOf(description: KindDescription, kinds: readonly KindDescription[]): string {
  const { kind, names, spec, status, introduction } = description;
  const elsewhere = specsElsewhere(description, kinds);
  const scope = kind.namespaced ? "namespaced" : "cluster-scoped";
  return `## ${kind.kind}

\`apiVersion: ${kind.group}/${kind.version}\`, \`kind: ${kind.kind}\`, ${scope}; \`kubectl get ${names.shortNames[0] ?? names.singular}\`.

${introduction}

### ${kind.kind}: spec

${table(spec, "spec", elsewhere)}

### ${kind.kind}: status

${table(status, "status", [])}

### ${kind.kind}: what is refused

The API server refuses an object that breaks a rule, with one of these sentences. An object that was stored before the
rule existed stays as it is, and the operator writes the same sentence into its status.

${refusalsOf(description, elsewhere)
  .map((says) => `- ${says}`)
  .join("\n")}
`;
}

/** The spec of another kind, as in spec.clusterSpec: it is described there, and here only linked. */
interface SpecElsewhere {
  readonly kind: string;
  readonly shape: Shape;
}

const specsElsewhere = (own: KindDescription, kinds: readonly KindDescription[]): readonly SpecElsewhere[] =>
  kinds.flatMap(({ kind, spec }) => (kind === own.kind ? [] : [{ kind: kind.kind, shape: spec.shape }]));

function table(root: Schema, path: string, elsewhere: readonly SpecElsewhere[]): string {
  const head = ["| Field | Type | Default | Meaning |", "|---|---|---|---|"];
  return [...head, ...rowsInside(root.shape, path, elsewhere)].join("\n");
}

function rowsInside(shape: Shape, path: string, elsewhere: readonly SpecElsewhere[]): string[] {
  if (shape.t === "array") return rowsInside(shape.items.shape, `${path}[]`, elsewhere);
  if (shape.t !== "object") return [];
  return Object.entries(shape.fields).flatMap(([name, schema]) => {
    const here = `${path}.${name}`;
    const other = elsewhere.find((one) => one.shape === schema.shape);
    if (other !== undefined)
      return [row(here, schema, ` Its fields: [${other.kind}: spec](#${other.kind.toLowerCase()}-spec).`)];
    return [row(here, schema), ...rowsInside(schema.shape, here, elsewhere)];
  });
}

function row(path: string, schema: Schema, more = ""): string {
  const otherwise = defaultText(schema);
  const fallback = schema.presence === "required" ? "required" : otherwise === undefined ? "" : `\`${otherwise}\``;
  const meaning = `${schema.description}${more}`.replaceAll("|", "\\|");
  return `| \`${path}\` | ${typeText(schema.shape)} | ${fallback} | ${meaning} |`;
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

/** Every sentence that a rule refuses an object of the kind with, but for those of specs that stand elsewhere. */
export function refusalsOf({ nameRules, spec }: KindDescription, elsewhere: readonly SpecElsewhere[] = []): string[] {
  return [...nameRules.map((rule) => rule.says), ...sentencesIn(spec, elsewhere)];
}

function sentencesIn({ shape, rules }: Schema, elsewhere: readonly SpecElsewhere[]): string[] {
  if (elsewhere.some((one) => one.shape === shape)) return [];
  const inside = shape.t === "object" ? Object.values(shape.fields) : shape.t === "array" ? [shape.items] : [];
  return [...rules.map((rule) => rule.says), ...inside.flatMap((schema) => sentencesIn(schema, elsewhere))];
}
