// Another member leads before the leader stops: writes pause for a moment instead of an election.
import { has } from "../../etcd/versions/features.ts";
import type { Assessment } from "../assess/assess.ts";
import { isDoomed, isHealthy, isVoter, type Reason, type Seat } from "../assess/seats.ts";
import type { Action } from "./actions.ts";

/** Nothing where it does not lead, or nobody can take over. One that stays leads rather than one that has to go, too. */
export function stepDown(
  { leader, seats, version }: Pick<Assessment, "leader" | "seats" | "version">,
  seat: Seat,
  because: Reason,
): readonly Action[] {
  if (seat.member.id !== leader || !seat.alive || !has(version, "moveLeader")) return [];
  const heirs = seats.filter((other) => isVoter(other) && isHealthy(other) && other !== seat);
  const heir = heirs.find((other) => !isDoomed(other)) ?? heirs[0];
  return heir === undefined ? [] : [{ do: "moveLeader", from: seat.member.id, to: heir.member.id, because }];
}
