// The alerts as Prometheus reads them: a file of rules, and the object that the Prometheus operator takes.
import { stringify } from "yaml";
import type { Alert } from "./alert.ts";
import { alertGroups } from "./alerts/alerts.ts";

export const runbookPath = (alert: Pick<Alert, "name">): string => `docs/runbooks/${alert.name}.md`;

/** As it stands in a file of rules. */
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Relative to the root of the tree: whoever publishes the tree decides where. */
export function ruleOf(alert: Alert): Rule {
  const { name, expr, severity, summary, description } = alert;
  return {
    alert: name,
    expr,
    for: alert.for,
    labels: { severity },
    annotations: { summary, description, runbook_url: runbookPath(alert) },
  };
}

export function ruleFile(): { groups: { name: string; rules: Rule[] }[] } {
  return { groups: alertGroups.map(({ name, alerts }) => ({ name, rules: alerts.map(ruleOf) })) };
}

export function prometheusRule(): object {
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "etcd-operator", labels: { name: "etcd-operator" } },
    spec: ruleFile(),
  };
}

/** Expressions stay on a line, so that they can be copied. */
export const yamlOf = (what: object): string => stringify(what, { lineWidth: 0, aliasDuplicateObjects: false });
