// Fewer members than asked for: new ones join as learners, which cost the quorum nothing while they start, or as voters
// where etcd knows no learners. One after the other; several at once only where `together.ts` allows it.
import { has } from "../../../etcd/versions/features.ts";
import { isOwedPod, isPodless, isStarting } from "../../assess/instances.ts";
import { isPlaceholder, type MemberName, newMemberName } from "../../objects/names.ts";
import { mayStartTogether } from "../../assess/together.ts";
import type { ClusterDecision } from "../actions.ts";
import { listed, type Situation } from "../rule.ts";
import { mayAdd } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

/** Before anybody is promoted: after each promotion etcd takes no new members for 5 s. */
export function growBeforePromotions(situation: Situation): ClusterDecision | undefined {
  return goesBeforePromotions(situation) ? joinMissing(situation) : undefined;
}

export function grow(situation: Situation): ClusterDecision | undefined {
  return goesBeforePromotions(situation) ? undefined : joinMissing(situation);
}

const goesBeforePromotions = ({ learners }: Situation): boolean => learners.length > 0;

function joinMissing(situation: Situation): ClusterDecision | undefined {
  const { desired, learners, now, ours, instances, version } = situation;
  const missing = desired.withSurge - ours.length;
  const as = has(version, "learners") ? "learner" : "voter";
  const room = as === "learner" ? situation.learnersAdmitted - learners.length : 1;
  if (missing <= 0 || room <= 0) return undefined;
  if (ours.some((instance) => isStarting(instance, now) || (isOwedPod(instance) && !isPlaceholder(instance.member))))
    return undefined;
  if (!mayAdd(instances, version)) return undefined;

  const together = mayStartTogether(situation);
  const joining = newNames(situation, together ? Math.min(missing, room) : 1);
  const starting = [...(together ? ours.filter(isPodless).map(({ name }) => name) : []), ...joining];
  const placeholder = starting.length > 1 ? ({ placeholder: true } as const) : {};
  return {
    actions: [
      ...joining.map((member) => ({ do: "addMember", member, as, ...placeholder }) as const),
      ...starting.map((member) => ({ do: "createPod", member }) as const),
    ],
    because: `${listed(joining)} ${joining.length === 1 ? "joins" : "join"}: ${ours.length} of ${desired.withSurge} members are there`,
    requeueAfter: delays.untilAccepted,
  };
}

function newNames({ desired, instances, world, random }: Situation, count: number): readonly MemberName[] {
  const { claims, pods } = world;
  const taken = new Set([...instances, ...pods, ...claims].map(({ name }) => name));
  return Array.from({ length: count }, () => {
    const name = newMemberName(desired.cluster, taken, random);
    taken.add(name);
    return name;
  });
}
