// Members that share a node are lost together when it is. So of two that could go, the one goes that has company.
import type { Instance } from "./instances.ts";

/** How many other members run on the same node. */
export function neighbours(instance: Instance, instances: readonly Instance[]): number {
  const node = nodeNameOf(instance);
  return node === undefined ? 0 : instances.filter((other) => other !== instance && nodeNameOf(other) === node).length;
}

const nodeNameOf = ({ pod }: Instance): string | undefined =>
  pod === undefined || pod.node.t === "none" || pod.terminating ? undefined : pod.node.name;
