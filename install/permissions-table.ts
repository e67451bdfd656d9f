// The table of permissions in docs/install.md, made from the rules that are granted.
import { atHome, onClusters, onKubernetes, type Permission } from "./permissions.ts";

const begin = "<!-- Permissions: made by `node install/generate.ts` from install/permissions.ts. -->";
const end = "<!-- End of permissions. -->";

/** Replaces the table between the two marks; the rest of the page is written by hand. */
export function withPermissionsTable(page: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The page lacks the marks of the permissions: ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${permissionsTable()}\n\n${page.slice(to)}`;
}

function permissionsTable(): string {
  const rows = (where: string, permissions: readonly Permission[]): string[] =>
    permissions.map(
      ({ rule: { resources, verbs }, why }) =>
        `| ${where} | ${resources.map((resource) => `\`${resource}\``).join(", ")} | ${verbs.join(", ")} | ${why} |`,
    );
  return [
    "| where | what | verbs | why |",
    "|---|---|---|---|",
    ...rows("managed namespaces", onClusters),
    ...rows("whole Kubernetes cluster", onKubernetes),
    ...rows("its own namespace", atHome),
  ].join("\n");
}
