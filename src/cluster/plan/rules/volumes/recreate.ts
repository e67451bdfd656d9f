// Members whose pods are gone and whose volumes are there: they get another pod and come back as the same members. Nothing
// has to be decided for that, so it needs no quorum: a cluster that has lost all its pods comes back by this alone.
import { imageOf } from "../../../../api/etcd-cluster/etcd-cluster.ts";
import type { Assessment } from "../../../assess/assess.ts";
import { firstStateOf, volumeLeftBy } from "../../../assess/beginning.ts";
import { hasBegun, holds } from "../../../assess/claims.ts";
import { releaseOnVolume, withoutPods } from "../../../assess/desired.ts";
import { isOwedItsVolume, quorum } from "../../../assess/instances.ts";
import { firstMembersOf } from "../../../objects/first-members.ts";
import type { Claim } from "../../../observe/world.ts";
import type { ClusterAction, ClusterDecision } from "../../actions.ts";
import { listed, type Situation } from "../../rule.ts";
import { deleteEnded } from "../../safety.ts";
import { delays } from "../../../../controllers/delays.ts";

/** With a quorum etcd says who is a member. */
export function recreateOnVolume(situation: Situation): ClusterDecision | undefined {
  const owed = situation.ours.filter(isOwedItsVolume);
  const actions = owed.flatMap(({ claim, pod }): readonly ClusterAction[] => {
    if (pod !== undefined) return deleteEnded(situation, pod);
    return claim === undefined ? [] : [recreation(situation, claim)];
  });
  return decision(actions);
}

/**
 * Without one the claims do: those whose members have started and were never removed. If etcd's list can be read, though
 * nothing can be changed, it says the same and counts for more.
 */
export function recreateWithoutQuorum(assessment: Assessment): ClusterDecision | undefined {
  const { instances, world } = assessment;
  const isListed = ({ name }: Claim): boolean =>
    instances.length === 0 || instances.some((instance) => instance.name === name);
  const claims = world.claims.filter((claim) => hasBegun(claim) && holds(claim) && isListed(claim));
  const ended = world.pods.filter(({ hasVolume, name }) => hasVolume && claims.some((claim) => claim.name === name));
  return decision([
    ...withoutPods(claims, world.pods).map((claim) => recreation(assessment, claim)),
    ...ended.flatMap((pod) => deleteEnded(assessment, pod)),
  ]);
}

/**
 * First members of a restored cluster, too few of which are there: those whose pods may have run come back on their volumes,
 * where that makes a majority. Clients may have written to them while no operator ran.
 */
export function recreateFirstMembers(assessment: Assessment): ClusterDecision | undefined {
  const members = firstMembersOf(assessment.world.cluster);
  const left = members.flatMap((member) => volumeLeftBy(member, assessment) ?? []);
  const coming = members.filter((member) => firstStateOf(member, assessment).t === "coming").length;
  const needed = quorum(members.length);
  if (coming >= needed || coming + left.length < needed) return undefined;
  return decision(
    left.flatMap((claim) => {
      const ended = assessment.world.pods.find(({ name }) => name === claim.name);
      return ended === undefined ? [recreation(assessment, claim)] : deleteEnded(assessment, ended);
    }),
  );
}

function recreation({ desired: { cluster } }: Assessment, claim: Claim): ClusterAction {
  const made = { version: cluster.spec.version, image: imageOf(cluster.spec) };
  return { do: "recreatePod", member: claim.name, uid: claim.uid, release: releaseOnVolume(claim, made, cluster) };
}

function decision(actions: readonly ClusterAction[]): ClusterDecision | undefined {
  if (actions.length === 0) return undefined;
  const names = actions.flatMap((action) => ("member" in action ? [action.member] : []));
  return {
    actions,
    because: `${listed(names)}: the data is in the volume, and the pod is made again`,
    requeueAfter: delays.soon,
  };
}
