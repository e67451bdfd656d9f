// Members that are there and differ from what is wanted are changed one at a time, when nothing else is to be done: in
// place, or by a new member that has joined meanwhile. What etcd must be brought to first comes before either.
import { formatVersion, minorOf } from "../../../etcd/versions/version.ts";
import { checkFor, isProvedElsewhere, nodeOf } from "../../assess/image-proof.ts";
import { type Change, isRolling } from "../../assess/roll.ts";
import type { Preparation } from "../../assess/target.ts";
import type { ClusterAction, ClusterDecision } from "../actions.ts";
import { stepDown } from "../hand-over.ts";
import type { Situation } from "../rule.ts";
import { changeImage, recreate, removeHealthy } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

export function changeMembers(situation: Situation): ClusterDecision | undefined {
  const { roll, world } = situation;
  const [next] = roll.changes;
  if (world.problems.length > 0) return undefined;
  // It is down: nothing has to be waited for.
  if (isRolling(world) && next?.mends === true)
    return next.how === "recreate" ? recreateOne(situation, next) : changeInPlace(situation, next);
  if (roll.waits !== undefined) return undefined;
  // It costs no member a restart, and pods that a person deletes come back in the new version only after it.
  if (roll.first !== undefined) return prepare(roll.first);
  if (!isRolling(world) || next === undefined) return undefined;
  if (next.how === "replace") return letGo(situation);
  return next.how === "recreate"
    ? recreateOne(situation, next)
    : (proveImages(situation) ?? changeInPlace(situation, next));
}

function prepare(first: Preparation): ClusterDecision {
  return { actions: preparing(first), because: first.because, requeueAfter: delays.untilAccepted };
}

function preparing(first: Preparation): readonly ClusterAction[] {
  const { because } = first;
  if (first.t === "enableDowngrade") return [{ do: "enableDowngrade", to: formatVersion(first.to), because }];
  if (first.t === "wait") return [];
  // Written down first: an operator that dies in between finds a downgrade that nobody wants, and cancels it.
  const record: readonly ClusterAction[] =
    first.t === "recordLog" ? [{ do: "recordLogVersion", version: minorOf(first.by) }] : [];
  return [...record, { do: "cancelDowngrade", because }];
}

/** A new member has joined in the place of one that is to go. */
function letGo(situation: Situation): ClusterDecision | undefined {
  const { desired, ours, roll } = situation;
  if (ours.length <= desired.size) return undefined;
  const next = roll.changes.find(({ how }) => how === "replace");
  if (next === undefined) return undefined;
  const { instance, because } = next;
  const handOver = stepDown(situation, instance, "the leader is about to be removed");
  if (handOver.length > 0)
    return { actions: handOver, because: `${instance.name} is about to go`, requeueAfter: delays.soon };
  const reason = `it is replaced: ${because}`;
  const actions = removeHealthy(situation, instance, reason);
  if (actions === undefined) return undefined;
  return { actions, because: `${instance.name} goes: ${reason}`, requeueAfter: delays.atOnce };
}

/** Its pod goes, and `recreateOnVolume` makes another on its volume. */
function recreateOne(situation: Situation, { instance, because }: Change): ClusterDecision | undefined {
  const handOver = stepDown(situation, instance, "the leader is about to be restarted");
  if (handOver.length > 0)
    return { actions: handOver, because: `${instance.name} is about to be restarted`, requeueAfter: delays.soon };
  const actions = recreate(situation, instance, because);
  if (actions === undefined) return undefined;
  return { actions, because: `${instance.name} gets another pod: ${because}`, requeueAfter: delays.later };
}

/** On all nodes at once: they are pulled side by side, and the members are changed one after another without a wait. */
function proveImages({ ours, roll, world }: Situation): ClusterDecision | undefined {
  const { release, changes } = roll;
  const inPlace = changes.filter(({ how }) => how === "inPlace");
  const checks = inPlace.map((change) => ({ change, check: checkFor(change.pod, release, world.imageChecks) }));
  const missing = new Set(checks.filter(({ check }) => check === undefined).map(({ change }) => nodeOf(change.pod)));
  const because = `${release.image} is tried on the nodes first`;
  if (missing.size > 0)
    return {
      actions: [...missing].map((node) => ({ do: "createImageCheck", node, image: release.image })),
      because,
      requeueAfter: delays.atRest,
    };
  const [first] = checks;
  if (first === undefined || first.check?.state.t === "found") return undefined;
  // One whose node takes no small pod; `roll.ts` says when it need not be tried there.
  if (first.check?.state.t === "rejected" && isProvedElsewhere(world, release, ours)) return undefined;
  return { actions: [], because, requeueAfter: delays.atRest };
}

function changeInPlace(situation: Situation, { instance, pod }: Change): ClusterDecision | undefined {
  const { release } = situation.roll;
  const handOver = stepDown(situation, instance, "the leader is about to be restarted");
  if (handOver.length > 0)
    return { actions: handOver, because: `${instance.name} is about to be restarted`, requeueAfter: delays.soon };
  const actions = changeImage(situation, instance, pod, release);
  if (actions === undefined) return undefined;
  const because = `${instance.name} is changed from ${pod.version} to ${release.version}`;
  return { actions, because, requeueAfter: delays.later };
}
