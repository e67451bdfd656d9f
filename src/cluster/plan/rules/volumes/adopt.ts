// Volumes that an EtcdCluster of the same name has left behind: they hold its data, so the new one goes on with them
// instead of beginning with nothing.
import type { Assessment } from "../../../assess/assess.ts";
import { isAdopting } from "../../../assess/adoption.ts";
import { hasBegun } from "../../../assess/claims.ts";
import type { ClusterDecision } from "../../actions.ts";
import { listed } from "../../rule.ts";
import { delays } from "../../../../controllers/delays.ts";

export function adopt({ world }: Assessment): ClusterDecision | undefined {
  if (!isAdopting(world)) return undefined;
  // Those that hold nothing say by their EtcdCluster only to which others they belong, and so go before these.
  const inOrder = world.leftClaims.toSorted((a, b) => Number(hasBegun(a)) - Number(hasBegun(b)));
  return {
    actions: inOrder.map(({ name, uid }) => ({ do: "adoptClaim", member: name, uid })),
    because: `${listed(world.leftClaims.map(({ name }) => name))}: volumes of an earlier cluster of this name`,
    requeueAfter: delays.soon,
  };
}
