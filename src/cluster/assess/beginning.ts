// How far the first members of a restored cluster are, before it has ever served.
//
// Each of N members is made from the same backup with the same list, as a voter. They serve when a majority of them runs.
// A member that has run may have voted, so nobody makes it again under its name. Hence their pods are held back by a
// scheduling gate until all of them are there and their uids are in the status. What is done, for N = 3:
//
// | seen                                                     | done                                                     |
// |----------------------------------------------------------|----------------------------------------------------------|
// | a pod is not there, and no uid of it is written down     | it is made: none has ever run                            |
// | 3 are there, held back or not written down               | their uids are written down, then they are let start     |
// | 2 can come, 1 is gone, has ended or does not start       | wait: 2 ≥ quorum(3) = 2 serve, and then it is replaced   |
// | 1 can come, of 2 there are only the volumes              | their pods are made again on them: nothing is removed    |
// | 1 can come, 2 were made again on volumes, and wait       | wait: clients may have written to them                   |
// | 1 can come, 2 cannot                                     | 1 < 2: begin again under new names                       |
// | 1 has run for a while, no node takes 2 of them           | begin again with 1, and grow when there are nodes        |
// | not written down, and 1 of 3 cannot come                 | nothing has run: begin again under new names             |
// | 2 are there, 1 has been refused for a while              | nothing has run: begin again with 2, and grow            |
// | all that are there are held back, and there is no list   | nothing has run: deleted, and one seed begins            |
// | pods or claims of names that are not in the list         | deleted, and nobody is made before they are gone         |
// | a pod that was Ready once, or an id in the status        | it has served: the ordinary rules, and none of these     |
// | 2 serve, and the operator sees it                        | the id is recorded, and the plan is removed              |
// | 2 serve, and the third is still held back                | it is replaced: its uid is not known any more            |
//
// No write is lost by beginning again: clients are sent to pods that are Ready, and a pod is not Ready without a quorum. Where
// pods are gone nobody can tell whether they were, while no operator ran; so their volumes come first. A pod that is made
// again on one cannot make any data: what it finds is what its member knew, or it does not start.
// Members of two attempts never form one cluster: other names make other ids, and the token differs, too.
import { type FirstMember, firstMembersOf } from "../objects/first-members.ts";
import type { Claim, Facts, MemberPod } from "../observe/world.ts";
import type { Assessment } from "./assess.ts";
import { claimOf, holds, isHeldBy, volumeLossOf } from "./claims.ts";
import { hasLostData, isNodeLost, isOutdatedAndUnheard, isStuck, problemOf } from "./pods.ts";

type Seen = Pick<Assessment, "world" | "desired" | "now">;

/** Why a pod that has never served will not serve, in words; undefined: it may. */
export function failureOf(pod: MemberPod, { world, desired, now }: Seen): string | undefined {
  if (pod.state.t === "ended") return `its pod has ended (${pod.state.problem})`;
  if (isNodeLost(pod, world, now)) return "its node is gone";
  const loss = volumeLossFor(pod, world);
  if (loss !== undefined) return loss;
  if (isOutdatedAndUnheard(pod, desired)) return "it has not answered, and its settings have changed";
  return isStuck(pod, world, desired, now) ? `it does not start (${problemOf(pod)})` : undefined;
}

/** One that runs may have served, and its data is there as long as it is. */
function volumeLossFor(pod: MemberPod, { claims }: Facts): string | undefined {
  const claim = claimOf(claims, pod.name);
  return pod.hasVolume && !isHeldBy(pod, claim) ? volumeLossOf(claim) : undefined;
}

type FirstState =
  | { readonly t: "unmade" }
  /** It may run, or will when all are there. */
  | { readonly t: "coming"; readonly pod: MemberPod }
  | { readonly t: "failed"; readonly because: string };

export function firstStateOf({ name, pod: uid }: FirstMember, seen: Seen): FirstState {
  const pod = seen.world.pods.find((one) => one.name === name);
  if (pod === undefined) return uid === undefined ? { t: "unmade" } : { t: "failed", because: "its pod is gone" };
  const isOther = uid !== undefined && uid !== pod.uid;
  if (isOther && !isReturning(pod)) return { t: "failed", because: "its pod was made again" };
  if (isOther && hasLostData(pod)) return { t: "failed", because: "its pod was gone before it had data" };
  // Clients may have written to the pod before it: whatever holds this one up is waited for.
  if (isOther && pod.state.t !== "ended" && volumeLossFor(pod, seen.world) === undefined) return { t: "coming", pod };
  if (pod.terminating) return { t: "failed", because: "its pod is being deleted" };
  const because = failureOf(pod, seen);
  return because === undefined ? { t: "coming", pod } : { t: "failed", because };
}

/** It starts only with the data in its volume. */
export const isReturning = ({ guard, hasVolume }: MemberPod): boolean => hasVolume && guard === "closed";

/** The volume of one whose pod was let start, and is gone or never runs again: it may hold what clients wrote. */
export function volumeLeftBy({ name, pod: uid }: FirstMember, { world }: Seen): Claim | undefined {
  const pod = world.pods.find((one) => one.name === name);
  if (uid === undefined || (pod !== undefined && pod.state.t !== "ended")) return undefined;
  const claim = claimOf(world.claims, name);
  return claim !== undefined && holds(claim) ? claim : undefined;
}

/** Until a majority of them serves, one that answers proves nothing: they may have to begin again. */
export const isBeginning = ({ cluster }: Pick<Facts, "cluster">): boolean => firstMembersOf(cluster).length > 0;
