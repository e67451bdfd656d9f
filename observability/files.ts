// The files in the tree that are made from the tables of this folder, in whole or in part.
import type { GeneratedFile } from "../src/api/generate/files.ts";
import { alerts } from "./alerts/alerts.ts";
import { cluster } from "./dashboards/cluster.ts";
import { fleet } from "./dashboards/fleet.ts";
import { grafanaJson } from "./dashboards/grafana.ts";
import { withPart } from "./marks.ts";
import { alertsTable, etcdMetricsTable, operatorMetricsTable, runbookPage } from "./pages.ts";
import { prometheusRule, ruleFile, runbookPath, yamlOf } from "./rules.ts";
import { podMonitors, prometheusConfig } from "./scraping.ts";

const made = "# Made by `node observability/generate.ts`. Change the tables in observability, not this file.\n";
const yaml = (path: string, what: () => object): GeneratedFile => ({ path, render: () => `${made}${yamlOf(what())}` });

export function generatedFiles(): GeneratedFile[] {
  return [
    yaml("observability/rules.yaml", ruleFile),
    yaml("observability/prometheus-rules.yaml", prometheusRule),
    {
      path: "observability/pod-monitors.yaml",
      render: () => `${made}${podMonitors().map(yamlOf).join("---\n")}`,
    },
    yaml("observability/prometheus.yaml", prometheusConfig),
    ...Object.entries({ fleet, cluster }).map(([name, dashboard]) => ({
      path: `observability/dashboards/${name}.json`,
      render: () => `${JSON.stringify(grafanaJson(dashboard), undefined, 2)}\n`,
    })),
    { path: "docs/observability.md", render: withTables },
    ...alerts.map((alert) => ({ path: runbookPath(alert), render: () => runbookPage(alert) })),
  ];
}

const withTables = (page: string): string =>
  Object.entries({
    Alerts: alertsTable(),
    Metrics: operatorMetricsTable(),
    "Metrics of etcd": etcdMetricsTable(),
  }).reduce((text, [name, part]) => withPart(text, name, part), page);
