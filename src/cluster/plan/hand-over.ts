// Another member leads before the leader stops: writes pause for a moment instead of an election.
import { has } from "../../etcd/versions/features.ts";
import type { Assessment } from "../assess/assess.ts";
import { isDoomed, isHealthy, isVoter, type Reason, type Instance } from "../assess/instances.ts";
import type { ClusterAction } from "./actions.ts";

/** Nothing where it does not lead, or nobody can take over. One that stays leads rather than one that has to go, too. */
export function stepDown(
  { leader, instances, version }: Pick<Assessment, "leader" | "instances" | "version">,
  instance: Instance,
  because: Reason,
): readonly ClusterAction[] {
  if (instance.member.id !== leader || !instance.alive || !has(version, "moveLeader")) return [];
  const transferees = instances.filter((other) => isVoter(other) && isHealthy(other) && other !== instance);
  const transferee = transferees.find((other) => !isDoomed(other)) ?? transferees[0];
  return transferee === undefined
    ? []
    : [{ do: "moveLeader", from: instance.member.id, to: transferee.member.id, because }];
}
