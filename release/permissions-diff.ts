// What an upgrade grants that was not granted before, and what it takes back: the difference between the rules of two versions.
import type { Rule } from "../install/permissions.ts";
import { type Place, places, type Rules } from "./last-release.ts";

export interface PermissionChange {
  readonly place: Place;
  /** As people write it: pods, pods/log, events.events.k8s.io, with the names of objects in brackets. */
  readonly resource: string;
  readonly granted: readonly string[];
  readonly withdrawn: readonly string[];
}

interface Grant {
  readonly group: string;
  readonly resource: string;
  /** Absent: every object. */
  readonly name: string | undefined;
  readonly verb: string;
}

/** In the order of the new rules, then of those that are gone. */
export function permissionsDiff(before: Rules, after: Rules): PermissionChange[] {
  return (Object.keys(places) as Place[]).flatMap((place) => {
    const [old, now] = [grantsOf(before[place]), grantsOf(after[place])];
    const granted = now.filter((grant) => !isCovered(grant, old));
    const withdrawn = old.filter((grant) => !isCovered(grant, now));
    const resources = new Set([...granted, ...withdrawn].map(titleOf));
    const verbs = (grants: readonly Grant[], resource: string): string[] => [
      ...new Set(grants.filter((grant) => titleOf(grant) === resource).map(({ verb }) => verb)),
    ];
    return [...resources].map((resource) => ({
      place,
      resource,
      granted: verbs(granted, resource),
      withdrawn: verbs(withdrawn, resource),
    }));
  });
}

const grantsOf = (rules: readonly Rule[]): Grant[] =>
  rules.flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        (resourceNames ?? [undefined]).flatMap((name) => verbs.map((verb) => ({ group, resource, name, verb }))),
      ),
    ),
  );

/** Whether others grant it, too: by name, by a wildcard, or for every object. */
const isCovered = (grant: Grant, others: readonly Grant[]): boolean =>
  others.some(
    (other) =>
      covers(other.group, grant.group) &&
      covers(other.resource, grant.resource) &&
      covers(other.verb, grant.verb) &&
      (other.name === undefined || other.name === grant.name),
  );

const covers = (pattern: string, value: string): boolean => pattern === "*" || pattern === value;

function titleOf({ group, resource, name }: Grant): string {
  const [plural = "", ...subresource] = resource.split("/");
  const full = [group === "" ? plural : `${plural}.${group}`, ...subresource].join("/");
  return name === undefined ? full : `${full} (${name})`;
}

/** A table, or a sentence where there is nothing to show. */
export function permissionsSection(changes: readonly PermissionChange[], since: string | undefined): string {
  if (since === undefined)
    return "This is the first release: the operator gets every permission in the table below.\n\n".concat(
      table(changes),
    );
  if (changes.length === 0) return `The operator gets the same permissions as in ${since}.`;
  return `Permissions that differ from those of ${since}. Apply the manifests, the chart or \`example/rbac\` of this version before or together
with its image: the operator reports an error for each permission that it lacks.\n\n${table(changes)}`;
}

function table(changes: readonly PermissionChange[]): string {
  const code = (verbs: readonly string[]): string => (verbs.length === 0 ? "–" : verbs.join(", "));
  const rows = changes.map(
    ({ place, resource, granted, withdrawn }) =>
      `| ${places[place]} | \`${resource}\` | ${code(granted)} | ${code(withdrawn)} |`,
  );
  return ["| where | what | granted | withdrawn |", "|---|---|---|---|", ...rows].join("\n");
}
