// docs/reference/conditions.md, made from the conditions of each kind and from what the reasons of Ready mean to programs.
import type { ConditionReason, ConditionType, Meaning, Reasons } from "../../src/api/conditions/reason.ts";
import { conditionTypes } from "../../src/api/conditions.ts";
import { eventReasons } from "../../src/api/events.ts";

export function conditionsPage(): string {
  return `# Conditions

<!-- Made by \`node docs/generate.ts\` from src/api/conditions. -->

Each condition has a \`type\`, a \`status\`, a \`reason\` for programs, a \`message\` for people and the \`observedGeneration\` that it
was concluded from. Wait for a type, as in \`kubectl wait --for=condition=Ready etcd/my-etcd\`, and branch on reasons: neither
changes once it is released. Messages may change: do not branch on them. [troubleshooting.md](../troubleshooting.md)
lists the common ones by symptom.

${Object.entries<Readonly<Record<string, ConditionType>>>(conditionTypes)
  .map(([kind, types]) => kindSection(kind, types))
  .join("\n\n")}

## What a reason means to programs
Helm 4 (\`--wait\`) goes by \`Reconciling\` and \`Stalled\`, and so does Flux until it gets the health checks in \`install/flux\`; Argo CD
needs those in \`install/argocd\` ([install.md](../install.md#with-argo-cd-flux-and-k9s)). All of them come from this table.

${Object.entries(meanings)
  .map(([meaning, what]) => `- **${meaning}**: ${what}`)
  .join("\n")}

The severity decides what \`kubectl etcd doctor\` calls serious, and sets the colours of the terminal and of the dashboard. The runbook
belongs to the alert that fires for the reason.

### Reasons of an EtcdCluster that is not \`Ready\`
${meaningTable(conditionTypes.EtcdCluster.Ready.reasons.False, conditionTypes.EtcdCluster.Available.reasons.False)}

### Reasons of a \`Problem\` of an EtcdBackup
${meaningTable(conditionTypes.EtcdBackup.Problem.reasons.True)}
`;
}

const meanings: Readonly<Record<Meaning, string>> = {
  settled: "nothing to wait for",
  progressing: "the operator is working on it",
  suspended: "it waits, as requested",
  degraded: "a person should check; the operator continues when what it waits for is available",
  stalled: "a person has to act",
};

/** `besides`: rows of another condition, which gets the same reasons and may be the one that makes the event. */
function meaningTable(rows: Reasons, besides: Reasons = {}): string {
  const head = ["| reason | meaning | severity | event | runbook |", "|---|---|---|---|---|"];
  return [...head, ...Object.entries(rows).map(([reason, row]) => meaningRow(reason, row, besides[reason]))].join("\n");
}

function meaningRow(reason: string, row: ConditionReason, besides: ConditionReason | undefined): string {
  const { meaning, severity, event = besides?.event, runbook } = row;
  const recorded = event === undefined ? "" : `\`${eventReasons[event].reason}\``;
  const page = runbook === undefined ? "" : `[${runbook}](../runbooks/${runbook}.md)`;
  return `| \`${reason}\` | ${meaning} | ${severity} | ${recorded} | ${page} |`;
}

function kindSection(kind: string, types: Readonly<Record<string, ConditionType>>): string {
  const sections = Object.entries(types).map(([type, row]) => typeSection(kind, type, row));
  return [`## ${kind}`, ...sections].join("\n\n");
}

function typeSection(kind: string, type: string, { trueWhen, present, reasons }: ConditionType): string {
  const head = `### ${kind}: ${type}\n\nTrue when ${trueWhen}.${present === undefined ? "" : ` It is there ${present}.`}`;
  if ("as" in reasons) return `${head} Its reason is that of \`${reasons.as}\`.`;
  const rows = (["True", "False"] as const).flatMap((status) =>
    Object.entries(reasons[status]).map(
      ([reason, { when, whatToDo = "" }]) => `| \`${reason}\` | ${status} | ${when} | ${whatToDo} |`,
    ),
  );
  return [head, "", "| reason | status | when | what to do |", "|---|---|---|---|", ...rows].join("\n");
}
