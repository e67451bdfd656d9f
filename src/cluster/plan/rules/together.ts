// What becomes of members that were started together under addresses that nobody can dial; `assess/together.ts` says
// when and why that is done.
import { runsFor } from "../../assess/pods.ts";
import type { Instance } from "../../assess/instances.ts";
import { hasWholeLog, mayListChange } from "../../assess/together.ts";
import { isPlaceholder } from "../../objects/names.ts";
import type { ClusterDecision } from "../actions.ts";
import { listed, type Situation } from "../rule.ts";
import { removeGone } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

/**
 * Voters that nobody can dial: the reconcile that promoted one did not come to its address. It gets it after its
 * promotion and never before: where a learner's address was changed, an etcd that reads its log again after a restart
 * takes it for a voter too soon, refuses its promotion, and from then on decides with other voters than the rest (seen
 * with 3.6.16; membership/cluster.go, UpdateRaftAttributes).
 */
export function makeDialable({ ours }: Situation): ClusterDecision | undefined {
  const hidden = ours.filter(({ member }) => isPlaceholder(member) && !member.learner);
  if (hidden.length === 0) return undefined;
  return {
    actions: hidden.map(({ member, name }) => ({
      do: "updatePeerUrl",
      id: member.id,
      member: name,
      because: "it has joined",
    })),
    because: `${listed(hidden.map(({ name }) => name))} can be found by the others from now on`,
    requeueAfter: delays.atOnce,
  };
}

/** Milliseconds in which a process without data begins, when it gets what it needs. */
const beginsWithin = 5000;

/**
 * A learner that never gets to the end of the log, most likely because it needs a snapshot, or that would not, since it
 * has yet to start and needs one by now. It is replaced by one that can be dialled: a learner costs nothing. One at a
 * time, or the next would be placeholder again.
 */
export function replacePlaceholder(situation: Situation): ClusterDecision | undefined {
  const { learners, now } = situation;
  if (!mayListChange(situation)) return undefined;
  const needsMore = ({ pod }: Instance): boolean =>
    pod === undefined ? !hasWholeLog(situation) : runsFor(pod, now) > beginsWithin;
  const stuck = learners.find((instance) => isPlaceholder(instance.member) && needsMore(instance));
  const because = "it does not get all data where nobody can dial it";
  const actions = stuck === undefined ? undefined : removeGone(situation, stuck, because);
  if (stuck === undefined || actions === undefined) return undefined;
  return { actions, because: `${stuck.name} is replaced: ${because}`, requeueAfter: delays.atOnce };
}
