// Members that share a node are lost together when it is. So of two that could go, the one goes that has company.
import type { Seat } from "./seats.ts";

/** How many other members run on the same node. */
export function neighbours(seat: Seat, seats: readonly Seat[]): number {
  const node = nodeNameOf(seat);
  return node === undefined ? 0 : seats.filter((other) => other !== seat && nodeNameOf(other) === node).length;
}

const nodeNameOf = ({ pod }: Seat): string | undefined =>
  pod === undefined || pod.node.t === "none" || pod.terminating ? undefined : pod.node.name;
