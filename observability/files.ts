// The files in the tree that are made from the tables of this folder, in whole or in part.
import type { GeneratedFile } from "../src/api/generate/files.ts";
import { alerts } from "./alerts/alerts.ts";
import { runbookPage } from "./pages.ts";
import { prometheusRule, ruleFile, runbookPath, yamlOf } from "./rules.ts";

const made = "# Made by `node observability/generate.ts`. Change the tables in observability, not this file.\n";
const yaml = (path: string, what: () => object): GeneratedFile => ({ path, render: () => `${made}${yamlOf(what())}` });

export function generatedFiles(): GeneratedFile[] {
  return [
    yaml("observability/rules.yaml", ruleFile),
    yaml("observability/prometheus-rules.yaml", prometheusRule),
    ...alerts.map((alert) => ({ path: runbookPath(alert), render: () => runbookPage(alert) })),
  ];
}
