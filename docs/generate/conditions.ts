// docs/reference/conditions.md, made from the conditions of each kind and from what the reasons of Ready mean to programs.
import { type ConditionType, conditionTypes } from "../../src/api/conditions.ts";
import { readyReasons } from "../../src/cluster/report/ready-reasons.ts";

export function conditionsPage(): string {
  return `# Conditions

<!-- Made by \`node docs/generate.ts\` from src/api/conditions.ts and src/cluster/report/ready-reasons.ts. -->

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

| reason of \`Ready\` | means |
|---|---|
${Object.entries(readyReasons)
  .map(([reason, meaning]) => `| \`${reason}\` | ${meanings[meaning]} |`)
  .join("\n")}
`;
}

const meanings = {
  progressing: "progressing: the operator is working on it",
  degraded: "degraded: a person should look; the operator continues when what it waits for is available",
  stalled: "stalled: a person has to act",
  suspended: "suspended: it waits, as requested",
} as const;

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
