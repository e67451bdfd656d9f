// The first members of a restored cluster: all of them are made from the backup at the same time, and none of them twice.
// `assess/beginning.ts` has the table of cases.
import type { Assessment } from "../../assess/assess.ts";
import { firstStateOf, isReturning } from "../../assess/beginning.ts";
import { hasServed } from "../../assess/health.ts";
import { quorum } from "../../assess/instances.ts";
import { problemOf, runsFor, stuckAt } from "../../assess/pods.ts";
import { type PlannedBeginning, plannedBeginning } from "../../objects/first-members.ts";
import type { MemberName } from "../../objects/names.ts";
import type { MemberPod } from "../../observe/world.ts";
import type { ClusterDecision } from "../actions.ts";
import { delays } from "../../../controllers/delays.ts";
import { listed, paceOf } from "../rule.ts";
import { deleteAbandoned } from "../safety.ts";

/** For a cluster that has yet to serve. */
export function beginRestored(assessment: Assessment): ClusterDecision | undefined {
  const { world } = assessment;
  const planned = plannedBeginning(world.cluster);
  if (hasServed(world)) return undefined;
  if (planned === undefined) return giveUpUnnamed(assessment);
  if (world.etcd.t === "accessDenied" && world.etcd.serving.length > 0) return undefined;
  const { beginning } = planned;
  if (beginning === undefined) return nameThem(assessment, planned);
  return (
    clearAway(
      assessment,
      beginning.members.map(({ name }) => name),
    ) ?? goOn(assessment, planned, beginning)
  );
}

/**
 * Who they are is not known any more, as after a rollback to an operator that does not know such members and has written the
 * status. All are held back, so nothing of them has ever run: the restore begins again with one member.
 */
function giveUpUnnamed(assessment: Assessment): ClusterDecision | undefined {
  const { cluster, pods } = assessment.world;
  const isHeldBack = pods.length > 0 && pods.every(({ gated }) => gated === true);
  return cluster.status.restore?.phase === "Seeding" && isHeldBack ? clearAway(assessment, []) : undefined;
}

/** A pod that is there is one of an older operator, which begins with one member alone. */
function nameThem({ world }: Assessment, { together }: PlannedBeginning): ClusterDecision | undefined {
  if (world.pods.length > 0) return undefined;
  return again(together, "nothing of the old cluster is left, and the first members are named");
}

function again(count: number, because: string): ClusterDecision {
  return { actions: [{ do: "nameFirstMembers", count }], because, requeueAfter: delays.atOnce };
}

/** What is left of an attempt that was given up. */
function clearAway(assessment: Assessment, names: readonly MemberName[]): ClusterDecision | undefined {
  const { pods, claims } = assessment.world;
  const left = [...pods, ...claims.filter(({ role }) => role === "current")].filter(
    ({ name }) => !names.includes(name),
  );
  if (left.length === 0) return undefined;
  return {
    actions: deleteAbandoned(assessment, new Set(names)),
    because: `${listed([...new Set(left.map(({ name }) => name))])}: of an attempt to begin that was given up`,
    requeueAfter: delays.later,
  };
}

function goOn(
  assessment: Assessment,
  { together }: PlannedBeginning,
  { members }: NonNullable<PlannedBeginning["beginning"]>,
): ClusterDecision {
  const { now, world } = assessment;
  // Without their uids in the status none of them has run.
  const isWritten = members.every(({ pod }) => pod !== undefined);
  const states = members.map((member) => ({ name: member.name, ...firstStateOf(member, assessment) }));
  const failed = states.filter((state) => state.t === "failed");
  const needed = isWritten ? quorum(members.length) : members.length;
  if (members.length - failed.length < needed) {
    const reasons = failed.map(({ name, because }) => `${name}: ${because}`).join("; ");
    return again(together, `the first members begin again, because too few of them can come (${reasons})`);
  }
  const coming = states.flatMap((state) => (state.t === "coming" ? [state.pod] : []));
  const unmade = states.filter((state) => state.t === "unmade").map(({ name }) => name);
  if (unmade.length > 0) {
    const oldest = Math.min(...coming.map(({ createdAt }) => createdAt));
    if (coming.length > 0 && now - oldest > admissionMs)
      return again(
        coming.length,
        `${coming.length} of ${members.length} first members are admitted, and begin without the rest`,
      );
    return {
      actions: [{ do: "createFirstMembers", members: unmade }],
      because: `${listed(unmade)} ${unmade.length === 1 ? "is" : "are"} made from the backup of the EtcdRestore ${world.cluster.status.restore?.name ?? ""}`,
      requeueAfter: delays.later,
    };
  }
  const placed = coming.filter((pod) => !isHomeless(pod));
  // Clients may have written to those that were made again on their volumes.
  const areNew = !coming.some((pod) => isHomeless(pod) && isReturning(pod));
  // All were created before any began.
  const isAlone = placed.length > 0 && placed.every((pod) => runsFor(pod, now) > placementMs);
  if (isAlone && areNew && placed.length < needed)
    return again(
      placed.length,
      `the first members begin again, because nodes take ${placed.length} of ${members.length}`,
    );
  const pods = coming.map(({ name, uid }) => ({ name, uid }));
  const isLetStart = isWritten && coming.every(({ gated }) => gated !== true);
  return {
    actions: isLetStart ? [] : [{ do: "startFirstMembers", pods }],
    because: `the first members ${listed(members.map(({ name }) => name))} are starting`,
    requeueAfter: Math.min(...coming.map((pod) => requeueFor(pod, assessment)), delays.atRest),
  };
}

/** A quota that counts pods which are gone has recovered before. */
const admissionMs = 25_000;

/** No node takes it, as the scheduler says. */
const isHomeless = (pod: MemberPod): boolean => pod.state.t === "pending" && problemOf(pod) !== undefined;
/** Milliseconds that those which run wait for the rest. Nodes that are added when pods wait for them have come before. */
const placementMs = 120_000;

function requeueFor(pod: MemberPod, { now, world }: Assessment): number {
  if (pod.state.t === "running") return paceOf(pod, now);
  if (problemOf(pod) === undefined) return delays.atRest;
  return Math.max(delays.atOnce, stuckAt(pod, world) - now);
}
