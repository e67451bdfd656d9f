// What the chart takes over from observability/: rules, dashboards, and how members are scraped. Its templates make objects of
// them where they are asked for.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { parseAllDocuments } from "yaml";
import { type Manifest, yamlOf } from "../manifest.ts";

const observability = path.resolve(import.meta.dirname, "../../observability");
const made = "# Made by `node install/generate.ts` from observability/.";

const textOf = (file: string): string => readFileSync(path.join(observability, file), "utf8");
const documentsIn = (file: string): Manifest[] =>
  parseAllDocuments(textOf(file)).map((document) => document.toJS() as Manifest);

/** Names below files/ of the chart, and what is in them. */
export function monitoringFiles(): Record<string, string> {
  if (!existsSync(observability)) return {};
  const dashboards = readdirSync(path.join(observability, "dashboards")).filter((file) => file.endsWith(".json"));
  const ofMembers = documentsIn("pod-monitors.yaml").filter(({ metadata }) => metadata.name === "etcd-members");
  return {
    ...Object.fromEntries(ofMembers.map((monitor) => ["pod-monitors/members.yaml", `${made}\n${yamlOf(monitor)}`])),
    ...Object.fromEntries(
      documentsIn("prometheus-rules.yaml").map((rule) => ["prometheus-rules.yaml", `${made}\n${yamlOf(rule)}`]),
    ),
    ...Object.fromEntries(dashboards.map((file) => [`dashboards/${file}`, textOf(`dashboards/${file}`)])),
  };
}
