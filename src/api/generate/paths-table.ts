// The tables of docs/upgrades.md: which version a cluster may go to from each minor, and which patches it is not moved to.
// Made from the rules in src/etcd/versions/steps.ts.
import { minors, stepBetween } from "../../etcd/versions/steps.ts";
import { formatVersion, minorOf } from "../../etcd/versions/version.ts";

const begin = "<!-- Paths: made by `node src/api/generate.ts` from src/etcd/versions/steps.ts. -->";
const end = "<!-- End of paths. -->";

/** Replaces what is between the two marks; the rest of the page is written by hand. */
export function withPathsTable(page: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The page lacks the marks of the paths: ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${pathsTable()}\n\n${badPatchesTable()}\n\n${page.slice(to)}`;
}

function pathsTable(): string {
  const rows = minors.map(({ newest, leaveFrom }, at) => {
    const next = minors[at + 1];
    const before = minors[at - 1];
    const up = next && stepBetween(newest, next.newest).t === "upgrade" ? minorOf(next.newest) : "";
    const needs = [
      leaveFrom && `from ${formatVersion(leaveFrom.patch)} on: ${leaveFrom.because}`,
      next?.byReplacement && `members are replaced: ${next.byReplacement}`,
      next?.readsLogFrom && `every member writes a raft snapshot first: ${next.readsLogFrom.because}`,
    ].filter((need) => need !== undefined);
    const goesDown = before && stepBetween(newest, before.newest).t === "downgrade";
    const down = goesDown ? minorOf(before.newest) : "no; restore a backup into a new cluster";
    return `| ${minorOf(newest)} | ${formatVersion(newest)} | ${up} | ${needs.join("; ")} | ${down} |`;
  });
  return [
    "| minor | newest known patch | upgrade to | what it needs | downgrade to |",
    "|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function badPatchesTable(): string {
  const rows = minors.flatMap(({ newest, bad }) =>
    bad.map(({ first, last, because }) => {
      const minor = minorOf(newest);
      const patches = first === last ? `${minor}.${first}` : `${minor}.${first} to ${minor}.${last}`;
      return `| ${patches} | ${because} |`;
    }),
  );
  return ["| no cluster is moved to | because |", "|---|---|", ...rows].join("\n");
}
