// Which member can be missed most, wherever one of several is picked: who goes first, and who is not made the leader.
import { type Instance, indexOf, isDoomed, isHealthy } from "./instances.ts";

/** Entries behind the leader: as many as etcd keeps at hand for those that lag (etcdserver/server.go, DefaultSnapshotCatchUpEntries). */
export const closeBy = 5000;

export function laggards(instances: readonly Instance[]): readonly Instance[] {
  const furthest = Math.max(...instances.map(indexOf));
  return instances.filter((instance) => furthest - indexOf(instance) > closeBy);
}

/** What speaks against a member, the gravest first. */
const flaws: readonly ((instance: Instance, all: readonly Instance[]) => boolean)[] = [
  (instance) => !isHealthy(instance) && instance.state.t !== "learning",
  (instance) => !isHealthy(instance),
  isDoomed,
  ({ pod }) => pod?.node.t !== "ready",
  ({ pod }) => pod?.ready !== true,
  (instance, all) => laggards(all).includes(instance),
  ({ pod }) => pod?.node.t === "ready" && pod.node.cordoned === true,
];

/** The higher, the sooner it goes: each flaw weighs more than all that come after it. 0: nothing speaks against it. */
export function weightOfFlaws(instance: Instance, all: readonly Instance[]): number {
  return flaws.reduce((weight, flaw) => weight * 2 + (flaw(instance, all) ? 1 : 0), 0);
}

/** How many other members run on the same node: they are lost together when it is. */
export function neighbours(instance: Instance, instances: readonly Instance[]): number {
  const node = nodeNameOf(instance);
  return node === undefined ? 0 : instances.filter((other) => other !== instance && nodeNameOf(other) === node).length;
}

const nodeNameOf = ({ pod }: Instance): string | undefined =>
  pod === undefined || pod.node.t === "none" || pod.terminating ? undefined : pod.node.name;
