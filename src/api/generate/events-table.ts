// docs/reference/events.md, made from `eventReasons`.
import { type EventReason, eventReasons } from "../events.ts";

export function eventsPage(): string {
  return `# Events

<!-- Made by \`node src/api/generate.ts\` from src/api/events.ts. -->

The operator records events on EtcdClusters, EtcdBackups and EtcdRestores: \`kubectl events --for etcdcluster/my-etcd\`. A reason
never changes once it is released; those that etcd-operator 0.9 used are the same.

${eventsTable()}
`;
}

function eventsTable(): string {
  const rows = Object.values<EventReason>(eventReasons).map(
    ({ reason, type, on = ["EtcdCluster"], when, whatToDo = "" }) =>
      `| \`${reason}\` | ${type} | ${on.join(", ")} | ${when} | ${fromReference(whatToDo)} |`,
  );
  return ["| reason | type | on | when | what to do |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** The rows have links as docs/clusters.md would; the page is a folder deeper. */
function fromReference(text: string): string {
  return text.replaceAll("](#", "](../clusters.md#").replaceAll(/\]\((?=[\w-]+\.md)/g, "](../");
}
