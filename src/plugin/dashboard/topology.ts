// Which member is on which node in which zone, and what is the matter with those nodes.
import type { Node } from "../../kube/objects/kinds.ts";
import { type Observed, valueOr } from "../observe/observe.ts";
import type { MemberView } from "../view/members.ts";
import type { NodeOfMembers, Zone } from "./messages.ts";

const zoneLabel = "topology.kubernetes.io/zone";
const zoneOf = ({ metadata }: Node): string | undefined => metadata?.labels?.[zoneLabel];
const nameOf = ({ metadata }: Node): string => metadata?.name ?? "";

/** Zones by name, then the nodes of none; in a zone the nodes by name, then members that have none. */
export function zonesOf(observed: Observed, members: readonly MemberView[]): Zone[] {
  const nodes = valueOr(observed.nodes, []);
  const names = new Set([...nodes.map(zoneOf), ...members.map(({ zone }) => zone)]);
  const zones = [...names].toSorted(lastUndefined).map((name): Zone => {
    const here = members.filter(({ zone }) => zone === name);
    const places = [...new Set(here.map(({ node }) => node))].toSorted(lastUndefined).map((node) =>
      placeOf(
        node,
        here,
        nodes.find((one) => nameOf(one) === node),
      ),
    );
    const taken = new Set(places.map((place) => place.name));
    const others = nodes.filter((node) => zoneOf(node) === name && !taken.has(nameOf(node))).length;
    return { ...(name !== undefined && { name }), nodes: places, others };
  });
  return zones.filter((zone) => zone.nodes.length > 0 || zone.name !== undefined);
}

function placeOf(name: string | undefined, here: readonly MemberView[], node: Node | undefined): NodeOfMembers {
  const trouble = node === undefined ? undefined : troubleOf(node);
  return {
    ...(name !== undefined && { name }),
    ...(trouble !== undefined && { trouble }),
    members: here.filter((member) => member.node === name).map((member) => member.name),
  };
}

function troubleOf({ spec, status }: Node): string | undefined {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready !== undefined && ready.status !== "True") return "not ready";
  return spec?.unschedulable === true ? "cordoned" : undefined;
}

function lastUndefined(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a.localeCompare(b, "en", { numeric: true });
}
