// The pages that are made of the alerts: a runbook each, and a table of all.
import type { Alert, Runbook, Step } from "./alert.ts";
import { alertGroups } from "./alerts/alerts.ts";
import { etcdMetrics } from "./etcd-metrics.ts";
import { operatorMetrics } from "./operator-metrics.ts";

export function runbookPage(alert: Alert): string {
  const { name, expr, severity, summary, description, runbook } = alert;
  return `# ${name}

<!-- Made by \`node observability/generate.ts\`. Change the table in observability/alerts, not this file. -->

*${inPlaceholders(summary)}* ${inPlaceholders(description)}

Severity ${severity}, ${alert.for === "0m" ? "at once" : `after ${alert.for}`}.

## Meaning

${runbook.meaning}

## Impact

${runbook.impact}

## Diagnosis

${usesPlugin(runbook) ? `${aboutPlugin}\n\n` : ""}${runbook.diagnosis.map(stepText).join("\n\n")}

## Mitigation

${runbook.mitigation.map(stepText).join("\n\n")}

## Expression

\`\`\`promql
${expr}
\`\`\`
`;
}

const aboutPlugin =
  "`kubectl etcd` is [the plugin](../kubectl-etcd.md): it finds endpoints and certificates, so that each command works with and without TLS. If authentication is enabled, add `--login` before `--member`.";

const usesPlugin = ({ diagnosis, mitigation }: Runbook): boolean =>
  [...diagnosis, ...mitigation].some(({ run = [] }) => run.some((line) => line.startsWith("kubectl etcd ")));

function stepText({ say, run = [] }: Step): string {
  return run.length === 0
    ? `- ${say}`
    : `- ${say}\n\n  \`\`\`sh\n${run.map((line) => `  ${line}`).join("\n")}\n  \`\`\``;
}

const placeholders = { namespace: "NAMESPACE", etcd_cluster: "CLUSTER", name: "NAME", pod: "POD" } as const;

/** Templates of Prometheus as words, as in `NAMESPACE/CLUSTER`. */
export function inPlaceholders(text: string): string {
  const known = new Map<string, string>(Object.entries(placeholders));
  return text
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => known.get(label) ?? label.toUpperCase())
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, "N");
}

export function alertsTable(): string {
  const rows = alertGroups.flatMap(({ alerts }) =>
    alerts.map(
      ({ name, severity, for: patience, summary }) =>
        `| [${name}](runbooks/${name}.md) | ${severity} | ${patience} | ${inPlaceholders(summary)} |`,
    ),
  );
  return ["| alert | severity | after | says |", "|---|---|---|---|", ...rows].join("\n");
}

export function operatorMetricsTable(): string {
  const isOurs = ({ name }: { name: string }): boolean => name.startsWith("etcd_operator_");
  const sorted = operatorMetrics().toSorted((a, b) => Number(isOurs(b)) - Number(isOurs(a)));
  const rows = sorted.map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`);
  return ["| metric | type | meaning |", "|---|---|---|", ...rows].join("\n");
}

export function etcdMetricsTable(): string {
  const rows = Object.entries(etcdMetrics).map(([name, since]) => `| \`${name}\` | ${since} |`);
  return ["| metric | since |", "|---|---|", ...rows].join("\n");
}
