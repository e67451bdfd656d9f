// What to do about a cluster, from what was concluded about it: a fixed list of rules, the first that has an answer
// wins. Nothing here does anything, and the same assessment gives the same plan.
import { isDeepStrictEqual } from "node:util";
import { minorOf } from "../../etcd/versions/version.ts";
import type { Assessment } from "../assess/assess.ts";
import { isBeginning } from "../assess/beginning.ts";
import { countedClaims, hasBegun } from "../assess/claims.ts";
import { isKnownToHaveServed } from "../assess/health.ts";
import { firstMembersOf } from "../objects/first-members.ts";
import { seedName } from "../objects/names.ts";
import { recordedIdOf } from "../observe/world.ts";
import type { ClusterAction, ClusterDecision, ClusterPlan } from "./actions.ts";
import { keepAlive } from "./keep-alive.ts";
import type { Rule, Situation } from "./rule.ts";
import { adopt } from "./rules/volumes/adopt.ts";
import { afterCertificates, certificates, podNotes, servingGates } from "./rules/certificates.ts";
import { changeMembers } from "./rules/change-members.ts";
import { beginRestored } from "./rules/begin-restored.ts";
import { bootstrap } from "./rules/bootstrap.ts";
import { growth, notesOnClaims, ownersOfClaims, retirements, settingsOnClaims } from "./rules/volumes/claims.ts";
import { grow, growBeforePromotions } from "./rules/grow.ts";
import { guardStarted } from "./rules/guard.ts";
import { heldUp, leaveAlone } from "./rules/leave-alone.ts";
import { waitForQuorum } from "./rules/lost-quorum.ts";
import { promoteLearners } from "./rules/promote.ts";
import { recreateFirstMembers, recreateOnVolume, recreateWithoutQuorum } from "./rules/volumes/recreate.ts";
import { readdress } from "./rules/readdress.ts";
import { reunite } from "./rules/reunite.ts";
import { remakePods } from "./rules/remake.ts";
import { beginRestore, replaceData } from "./rules/replace-data.ts";
import { replaceDoomed } from "./rules/volumes/replace-doomed.ts";
import { replaceLost } from "./rules/replace.ts";
import { shrink } from "./rules/shrink.ts";
import { deleteOrphans, makeMissingPods } from "./rules/strays.ts";
import { replacePlaceholder, makeDialable } from "./rules/together.ts";
import {
  alarms,
  budget,
  labels,
  peerServiceForPods,
  resources,
  services,
  confirmations,
  imageChecks,
  metadata,
} from "./rules/upkeep.ts";
import { wait } from "./rules/wait.ts";

/** For a cluster that can decide. What endangers it first, then what it lacks, then what would be nicer. */
const rules: readonly Rule[] = [
  recreateOnVolume,
  replaceLost,
  reunite,
  makeDialable,
  deleteOrphans,
  shrink,
  readdress,
  growBeforePromotions,
  promoteLearners,
  replacePlaceholder,
  remakePods,
  makeMissingPods,
  grow,
  replaceDoomed,
  changeMembers,
  wait,
];

/** `random` gives numbers from 0 up to 1, for the names of new members. */
export function planCluster(assessment: Assessment, random: () => number = Math.random): ClusterPlan {
  const only = heldUp(assessment) ?? replaceData(assessment);
  if (only !== undefined) return { ...keepAlive(assessment), decisions: [only] };
  const asked = beginRestore(assessment);
  const left = leaveAlone(assessment);
  if (left !== undefined) return { ...keepAlive(assessment), decisions: asked === undefined ? [left] : [asked, left] };
  const answers = decide({ ...assessment, random });
  const [first, ...others]: ClusterPlan["decisions"] = asked === undefined ? answers : [asked, ...answers];
  const prepare = (decided: ClusterDecision): ClusterDecision => {
    const { actions, ...decision } = afterCertificates(assessment, decided);
    return { ...decision, ...requeueFor(assessment, decision), actions: prepared(actions) };
  };
  const prepared = (actions: readonly ClusterAction[]): readonly ClusterAction[] => [
    ...newClusterId(assessment),
    ...peerServiceForPods(assessment, actions),
    ...actions,
  ];
  const decisions: ClusterPlan["decisions"] = [prepare(first), ...others.map(prepare)];
  return {
    guards: [...guardStarted(assessment), ...notesOnClaims(assessment)],
    decisions,
    upkeep: [
      ...labels(assessment),
      ...services(assessment).filter((action) => !decisions.some(({ actions }) => isIn(action, actions))),
      ...budget(assessment),
      ...settingsOnClaims(assessment),
      ...ownersOfClaims(assessment),
      ...growth(assessment),
      ...retirements(assessment).filter((action) => !decisions.some(({ actions }) => isIn(action, actions))),
      ...resources(assessment),
      ...metadata(assessment),
      ...confirmations(assessment),
      ...imageChecks(assessment),
      ...alarms(assessment),
      ...certificates(assessment),
      ...podNotes(assessment),
      ...servingGates(assessment),
    ],
  };
}

/** Soon, while certificates are being taken over. */
function requeueFor({ certificates: { requeueAfter } }: Assessment, decision: Pick<ClusterDecision, "requeueAfter">) {
  if (requeueAfter === Number.POSITIVE_INFINITY) return {};
  return { requeueAfter: Math.min(requeueAfter, decision.requeueAfter ?? requeueAfter) };
}

const isIn = (action: ClusterAction, actions: readonly ClusterAction[]): boolean =>
  actions.some((other) => isDeepStrictEqual(other, action));

/** The first answer, and those that would be given if it were refused. One that waits is final. */
function decide(situation: Situation): [ClusterDecision, ...ClusterDecision[]] {
  const { world } = situation;
  const { t } = world.etcd;
  if (t === "noQuorum" || t === "accessDenied")
    return [
      recreateWithoutQuorum(situation) ??
        reunite(situation) ??
        recreateFirstMembers(situation) ??
        beginRestored(situation) ??
        waitForQuorum(situation),
    ];
  if (t !== "quorum")
    return [
      adopt(situation) ??
        reunite(situation) ??
        recreateFirstMembers(situation) ??
        beginRestored(situation) ??
        bootstrap(situation) ??
        recreateWithoutQuorum(situation) ??
        waitForQuorum(situation),
    ];
  const decisions: ClusterDecision[] = [];
  for (const rule of rules) {
    const decision = rule(situation);
    if (decision === undefined) continue;
    decisions.push(decision);
    if (decision.actions.length === 0) break;
  }
  const [first = wait(situation), ...others] = decisions;
  return [first, ...others];
}

/** Recorded before anything else is done to the cluster: from then on nothing starts another in its place. */
function newClusterId({ version, world }: Assessment): readonly ClusterAction[] {
  const { claims, cluster, etcd } = world;
  if (recordedIdOf(cluster) !== undefined || (etcd.t !== "quorum" && etcd.t !== "noQuorum")) return [];
  if (etcd.t === "noQuorum" && isBeginning(world)) return [];
  const { clusterId } = etcd;
  // One of etcd-operator 0.9 has served before, in who knows which versions.
  // So has one that goes on with the volumes of an earlier cluster: none of them is of its own seed.
  const first = new Set([seedName(cluster), ...firstMembersOf(cluster).map(({ name }) => name)]);
  const isAdopted = countedClaims(world).some(hasBegun) && !claims.some(({ name }) => first.has(name));
  const isNew = !isKnownToHaveServed(cluster.status) && !isAdopted;
  return [{ do: "recordClusterId", clusterId, ...(isNew && { logVersion: minorOf(version) }) }];
}
