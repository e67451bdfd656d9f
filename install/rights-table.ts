// The table of rights in docs/install.md, made from the rules that are granted.
import { atHome, onClusters, onKubernetes, type Right } from "./rights.ts";

const begin = "<!-- Rights: made by `node install/generate.ts` from install/rights.ts. -->";
const end = "<!-- End of rights. -->";

/** Replaces the table between the two marks; the rest of the page is written by hand. */
export function withRightsTable(page: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The page lacks the marks of the rights: ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${rightsTable()}\n\n${page.slice(to)}`;
}

function rightsTable(): string {
  const rows = (where: string, rights: readonly Right[]): string[] =>
    rights.map(
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
