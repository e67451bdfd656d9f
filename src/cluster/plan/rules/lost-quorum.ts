// A cluster that cannot decide, or that does not let the operator know what it decides. Nothing is taken away from it:
// members that come back make it whole, and until then every copy of the data may be the one that counts.
import type { Assessment } from "../../assess/assess.ts";
import { claimOf } from "../../assess/claims.ts";
import { isStuck, knowsMembers, outdatedSetting } from "../../assess/pods.ts";
import { brokenPods, isRolling, mayComeUpInAnotherPod, silentPods } from "../../assess/roll.ts";
import { isVoter, quorum } from "../../assess/instances.ts";
import type { ClusterDecision } from "../actions.ts";
import { changeBrokenImage, deleteBroken, deleteSecondVoterPod } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

export function waitForQuorum(assessment: Assessment): ClusterDecision {
  const { world } = assessment;
  const repair = undoChange(assessment) ?? recreateBroken(assessment);
  if (repair !== undefined) return repair;
  if (world.etcd.t === "accessDenied")
    return {
      actions: [],
      because: `etcd's authentication keeps the operator out (${world.etcd.trouble.t}): nothing is done to the members`,
      requeueAfter: delays.untilCorrected,
    };
  if (world.etcd.t === "noQuorum") return startSecondVoter(assessment) ?? waitForVoters(assessment);
  if (world.pods.length === 0)
    return {
      actions: [],
      because: "all members are gone and their data with them: restore from a backup, or delete the cluster",
    };
  return {
    actions: [],
    because: `none of the ${world.pods.length} pods answers; those that come back keep their data`,
    requeueAfter: delays.later,
  };
}

/** A member was given another image, has not come up since, and something else is wanted by now. */
function undoChange({ roll: { release }, world }: Assessment): ClusterDecision | undefined {
  const [pod] = isRolling(world) ? brokenPods(world, release) : [];
  if (pod === undefined) return undefined;
  const because = `${pod.name} has not come up in ${pod.version} (${pod.image}), and gets ${release.version} (${release.image})`;
  return { actions: changeBrokenImage(pod, release), because, requeueAfter: delays.later };
}

/** A member that does not come up with the settings that it has, and others are wanted by now: its data is in its volume. */
function recreateBroken(assessment: Assessment): ClusterDecision | undefined {
  const { desired, now, world } = assessment;
  if (!isRolling(world)) return undefined;
  for (const pod of silentPods(world)) {
    const claim = claimOf(world.claims, pod.name);
    const because = mayComeUpInAnotherPod(pod, now) ? outdatedSetting(pod, desired.cluster) : undefined;
    const actions = because === undefined ? [] : deleteBroken(assessment, pod, claim, because);
    if (actions.length > 0)
      return { actions, because: `${pod.name} gets another pod: ${because}`, requeueAfter: delays.soon };
  }
  return undefined;
}

function waitForVoters({ voters }: Assessment): ClusterDecision {
  const here = voters.filter(({ answer }) => answer !== undefined).length;
  const because =
    voters.length === 0
      ? "no voter answers; those that come back keep their data"
      : `quorum is lost: ${here} of ${voters.length} voters answer and ${quorum(voters.length)} are needed`;
  return { actions: [], because, requeueAfter: delays.later };
}

/**
 * Where etcd knows no learners, adding a second voter takes the quorum from the first until the second runs. If the
 * reconcile ended between the two steps, only the pod of that member can bring it back. It starts empty and so must not
 * have had any data that counts, and it had none: the first voter was needed for all that was ever decided, and has it.
 */
function startSecondVoter(assessment: Assessment): ClusterDecision | undefined {
  const { desired, now, instances, world } = assessment;
  const first = instances.find(({ member }) => member.name !== "");
  const second = instances.find(({ member }) => member.name === "");
  if (instances.length !== 2 || !instances.every(isVoter) || first?.answer === undefined) return undefined;
  if (second === undefined || second.state.t === "foreign") return undefined;
  const { name, pod } = second;
  const because = `${name} is the second of two voters and has never run`;
  if (pod === undefined) return { actions: [{ do: "createPod", member: name }], because, requeueAfter: delays.later };
  const members = instances.map(({ member }) => member);
  // It never ran: one that cannot start is made again with what the spec says now.
  const stays = pod.state.t !== "ended" && knowsMembers(pod, members) && !isStuck(pod, world, desired, now);
  const actions = stays ? [] : deleteSecondVoterPod(assessment, pod, "it cannot start as it is");
  return { actions, because, requeueAfter: delays.soon };
}
