// Another member leads before the leader stops: writes pause for a moment instead of an election.
import { has } from "../../etcd/versions/features.ts";
import type { Assessment } from "../assess/assess.ts";
import { isHealthy, isVoter, type Reason, type Instance } from "../assess/instances.ts";
import { weightOfFlaws } from "../assess/standing.ts";
import type { ClusterAction } from "./actions.ts";

/** Nothing where it does not lead, or nobody can take over. One leads that stays rather than one that has to go, too. */
export function stepDown(
  { leader, instances, version }: Pick<Assessment, "leader" | "instances" | "version">,
  instance: Instance,
  because: Reason,
): readonly ClusterAction[] {
  if (instance.member.id !== leader || !instance.alive || !has(version, "moveLeader")) return [];
  const flaws = (other: Instance): number => weightOfFlaws(other, instances);
  const [transferee] = instances
    .filter((other) => isVoter(other) && isHealthy(other) && other !== instance)
    .toSorted((a, b) => flaws(a) - flaws(b));
  return transferee === undefined
    ? []
    : [{ do: "moveLeader", from: instance.member.id, to: transferee.member.id, because }];
}
