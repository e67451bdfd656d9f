// values.yaml and values.schema.json of the chart, and the table of values for its README.
import { yamlOf } from "../manifest.ts";
import { type Fields, flatten, type Value } from "./value.ts";

export function valuesYaml(fields: Fields): string {
  return `# Made by \`node install/generate.ts\` from install/chart/values.ts.\n${linesOf(fields, "").join("\n")}\n`;
}

function linesOf(fields: Fields, indent: string): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const comment = wrapped(value.says, 110).map((line) => `${indent}# ${line}`);
    if (value.t === "group") return ["", ...comment, `${indent}${name}:`, ...linesOf(value.fields, `${indent}  `)];
    const lines = yamlOf({ [name]: defaultOf(value) })
      .trimEnd()
      .split("\n")
      .map((line) => indent + line);
    return [...(indent === "" ? [""] : []), ...comment, ...lines];
  });
}

function wrapped(sentence: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of sentence.split(" ")) {
    const longer = [...lines.slice(-1), word].join(" ");
    if (lines.length > 0 && longer.length <= width) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines;
}

export const defaultOf = (value: Exclude<Value, { t: "group" }>): unknown => value.otherwise ?? null;

/** Closed, so that a misspelled value is refused; `global` is what a chart around this one sets for all. */
export function valuesSchema(fields: Fields): string {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of etcd-operator",
    ...closed({ ...fields }),
  };
  Object.assign(schema.properties, {
    global: { type: "object", description: "Values shared by all charts of a release." },
  });
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function closed(fields: Fields): { type: "object"; additionalProperties: false; properties: Record<string, object> } {
  const properties = Object.entries(fields).map(([name, value]) => [
    name,
    { description: value.says, ...schemaOf(value) },
  ]);
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) };
}

function schemaOf(value: Value): object {
  switch (value.t) {
    case "text":
      return { type: "string", ...(value.oneOf !== undefined && { enum: value.oneOf }) };
    case "truth":
      return { type: "boolean" };
    case "number":
      return { type: "integer", minimum: value.least };
    case "amount":
      return { type: ["integer", "string", "null"] };
    case "texts":
      return { type: "array", items: { type: "string" } };
    case "labels":
      return { type: "object", additionalProperties: { type: "string" } };
    case "object":
      return { type: "object" };
    case "objects":
      return { type: "array", items: { type: "object" } };
    case "group":
      break;
  }
  return closed(value.fields);
}

export function valuesTable(fields: Fields): string {
  const rows = flatten(fields).map(({ path, value }) => {
    const otherwise = defaultOf(value);
    const shown = otherwise === "" || otherwise === null ? "" : `\`${JSON.stringify(otherwise)}\``;
    return `| \`${path}\` | ${shown} | ${value.says} |`;
  });
  return ["| value | default | meaning |", "|---|---|---|", ...rows].join("\n");
}
