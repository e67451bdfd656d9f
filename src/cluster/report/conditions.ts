// The conditions of a cluster: Ready, Reconciling and Stalled for programs that wait, and the four of etcd-operator 0.9, each
// True or False and each with a sentence that says what is the matter and, where a person has to act, what to do.
import {
  conditionTypes,
  isIn,
  type ReadyReason,
  type ReasonOf,
  rowOf,
  type VerdictOn,
  type VerdictsOn,
  conditionOf,
} from "../../api/conditions.ts";
import { warningOn } from "../../etcd/versions/steps.ts";
import { type Conclusion } from "../../kube/objects/conditions.ts";
import { type ClusterOutcome, refusalsIn } from "../act/outcome.ts";
import { progressConditions } from "../../kube/objects/progress.ts";
import { adoptionProblem, foreignProblem } from "../assess/adoption.ts";
import type { Assessment } from "../assess/assess.ts";
import { type Health, unhealthyVoters } from "../assess/health.ts";
import { type Change, isRolling, stepsOf } from "../assess/roll.ts";
import { alarmsIn, pressureOf, spaceOf } from "../assess/space.ts";
import { silencesOf } from "../assess/silence.ts";
import { apartSentence, certificatesValid, keptApartBy } from "./certificates.ts";
import type { MemberPod, ClusterWorld } from "../observe/world.ts";
import { recoveryAdvice } from "./recovery.ts";
import { accessDeniedReason, accessDeniedSentence } from "./access-denied.ts";

type Verdict<Type extends keyof VerdictsOn<"EtcdCluster">> = VerdictOn<"EtcdCluster", Type>;

interface Said<Status, Reason> {
  readonly status: Status;
  readonly reason: Reason;
  readonly message: string;
}

const yes = <Reason extends string>(reason: Reason, message: string): Said<"True", Reason> => ({
  status: "True",
  reason,
  message,
});
const no = <Reason extends string>(reason: Reason, message: string): Said<"False", Reason> => ({
  status: "False",
  reason,
  message,
});

export function conclusionsOf(assessment: Assessment, outcome: ClusterOutcome): Conclusion[] {
  const observedGeneration = assessment.world.cluster.metadata.generation ?? 0;
  const certificates = certificatesValid(assessment);
  const readiness = ready(assessment, outcome);
  const verdicts: VerdictsOn<"EtcdCluster"> = {
    Available: available(assessment),
    Scaling: scaling(assessment),
    Upgrading: upgrading(assessment),
    Recovering: recovering(assessment, outcome),
    Ready: readiness,
    ...progressOf(readiness),
    ...(certificates && { CertificatesValid: certificates }),
    ...diskPressure(assessment),
  };
  return Object.entries(verdicts).map(([type, verdict]) => ({ type, ...verdict, observedGeneration }));
}

function progressOf(readiness: Verdict<"Ready">): ReturnType<typeof progressConditions<ReadyReason>> {
  const { status, reason, message } = readiness;
  const meaning = rowOf("EtcdCluster", "Ready", readiness)?.meaning;
  const unfinished = meaning === "stalled" ? "stalled" : "reconciling";
  return progressConditions(status === "True" ? "done" : unfinished, reason, message);
}

type Unavailable = Exclude<Health, { t: "serving" }>;

function available(assessment: Assessment): Verdict<"Available"> {
  const { health } = assessment;
  if (health.t === "serving" || (health.t === "accessDenied" && health.serves)) return yes("Cluster available", "");
  return no(reasonOf(health), sentenceOn(health, assessment));
}

/** Members that run and cannot reach each other do not go on by themselves. */
function sentenceOn(health: Unavailable, assessment: Assessment): string {
  const apart = keptApartBy(assessment);
  if (apart !== undefined && health.t === "electing")
    return `Members answer and have no leader: nothing can be written. ${apart}`;
  if (apart !== undefined && health.t === "quorumLost")
    return `${health.answering} of ${health.voters} voters answer, and a majority is needed: nothing can be written. ${apart}`;
  return adviceOn(health, assessment.world);
}

type Undecided = Extract<Unavailable, { readonly t: "creating" | "restoring" | "foreign" | "accessDenied" }>;

/** Where nobody can tell who was lost. */
function undecidedReason(health: Undecided): Extract<ReasonOf<"EtcdCluster", "Recovering", "False">, ReadyReason> {
  switch (health.t) {
    case "accessDenied":
      return accessDeniedReason(health.trouble);
    case "creating":
      return health.restore === undefined ? "Creating" : "Restoring";
    case "restoring":
      return "Restoring";
    case "foreign":
      break;
  }
  return "ForeignCluster";
}

const isUndecided = (health: Health): health is Undecided =>
  health.t === "creating" || health.t === "restoring" || health.t === "foreign" || health.t === "accessDenied";

const reasonsOfMembers = {
  electing: "Electing",
  joining: "Joining",
  quorumLost: "QuorumLost",
  dataLost: "DataLost",
} as const;

const reasonOf = (health: Unavailable): ReasonOf<"EtcdCluster", "Available", "False"> =>
  isUndecided(health) ? undecidedReason(health) : reasonsOfMembers[health.t];

export function adviceOn(health: Unavailable, world: Pick<ClusterWorld, "backup" | "cluster">): string {
  switch (health.t) {
    case "creating":
      return health.restore === undefined
        ? "The first member has not answered yet."
        : `The first members are made from the backup of the EtcdRestore ${health.restore} and do not serve yet.`;
    case "restoring":
      return `The EtcdRestore ${health.restore} replaces the data: the members that were there are being stopped.`;
    case "electing":
      return "The members are electing a leader; nothing can be read or written until they have one.";
    case "joining":
      return "New members are needed for a majority and start; nothing can be written until they have joined.";
    case "foreign":
      return `All pods that answer belong to the etcd cluster ${health.answering}, but status.clusterId is ${health.recorded}: the operator does not touch them. If they hold the right data, set status.clusterId to ${health.answering} with kubectl patch --subresource=status; otherwise, find out where they came from.`;
    case "quorumLost":
      return `${health.answering} of ${health.voters} voters answer, and a majority is needed: nothing can be written. The cluster continues by itself as soon as enough of its pods run again: find out what keeps them from running.${elseRestore(world)}`;
    case "accessDenied":
      return accessDeniedSentence(health);
    case "dataLost":
      break;
  }
  return `Only ${health.left} of ${health.voters} voters still have their data, and a majority is needed: the cluster cannot come back by itself. ${recoveryAdvice(world)}`;
}

/** Members that only wait have everything; a backup is older. */
function elseRestore(world: Pick<ClusterWorld, "backup" | "cluster">): string {
  return world.backup === undefined ? "" : ` If they never will: ${recoveryAdvice(world)}`;
}

function scaling({ desired, health, learners, instances, world: { cluster, etcd } }: Assessment): Verdict<"Scaling"> {
  // While too few answer nobody knows better than last time.
  const current = etcd.t === "quorum" ? instances.length : cluster.status.size;
  const joining = health.t === "serving" ? learners.length : 0;
  // Members that have yet to vote are not part of it: it would say 3 of 3 while the third one joins.
  const message = `Current cluster size: ${current - joining}, desired cluster size: ${desired.size}`;
  if (current > desired.withSurge) return yes("Scaling down", message);
  if (current < desired.size) return yes("Scaling up", message);
  // A member more than asked for joins in the place of another: that is no change of the size.
  return joining > 0 && current === desired.size ? yes("Scaling up", message) : no("Size reached", "");
}

function upgrading(assessment: Assessment): Verdict<"Upgrading"> {
  const { roll, world } = assessment;
  const { version } = world.cluster.spec;
  const isThere = [...versionsOf(world).keys()].every((running) => running === version);
  const isHeld = world.problems.length > 0 || roll.target.refused !== undefined;
  if (isThere || isHeld) return no("Not upgrading", "");
  const path = stepsOf(roll).join(", then ");
  const by = path === version ? "" : ` by way of ${path}`;
  return yes("Cluster upgrading", `upgrading to ${version}${by}: ${rollProgress(assessment)}`);
}

/** How far the change of the members is, and what it waits for. */
function rollProgress({ desired, roll, world }: Assessment): string {
  const { changes, first, updated, waits } = roll;
  const done = `${updated} of ${desired.size} members have the version and settings of the spec`;
  if (waits !== undefined) return `${done}; ${waits.replace(/\.$/, "")}.`;
  if (first !== undefined) return `${done}; ${first.because}.`;
  if (world.cluster.spec.paused) return `${done}. The cluster is paused, so nothing is done about it.`;
  if (changes.length === 0) return `${done}.`;
  const names = inWords(changes);
  if (world.cluster.spec.updateStrategy === "OnDelete") {
    // A pod alone would come back on the volume that it had.
    const [ofVolumes, ofPods] = [changes.filter(takesAnotherVolume), changes.filter((one) => !takesAnotherVolume(one))];
    const pods = ofPods.length > 0 ? [`delete these pods one after another: ${inWords(ofPods)}`] : [];
    const volumes = ofVolumes.length > 0 ? [`delete these claims one after another: ${inWords(ofVolumes)}`] : [];
    return `${done}. spec.updateStrategy is OnDelete: ${[...pods, ...volumes].join("; ")}.`;
  }
  return `${done}; next: ${names}.`;
}

const takesAnotherVolume = ({ how, pod }: Change): boolean => how === "replace" && pod.hasVolume;
const inWords = (changes: readonly Change[]): string =>
  changes.map(({ instance, because }) => `${instance.name} (${because})`).join(", ");

const recoveringReasons = conditionTypes.EtcdCluster.Recovering.reasons.True;

function recovering(assessment: Assessment, outcome: ClusterOutcome): Verdict<"Recovering"> {
  const { desired, health, instances, voters, world } = assessment;
  if (isUndecided(health)) return no(undecidedReason(health), "");
  if (health.t === "quorumLost" || health.t === "dataLost")
    return yes("Disaster recovery", sentenceOn(health, assessment));
  const unhealthy = unhealthyVoters(world, instances);
  if (unhealthy.length > 0) return yes("Members lost", `Not healthy: ${namesOf(unhealthy)}.`);
  // A pod that is deleted serves to its last moment, and its member is off the list before it was ever unhealthy.
  const replaced = instances.length <= desired.size ? lostBy(outcome) : [];
  if (replaced.length > 0) return yes("Members lost", `Being replaced: ${replaced.join(", ")}.`);
  // Until all are back it is the same recovery, though the lost ones are off the list by now.
  const before = conditionOf(world.cluster.status.conditions, "Recovering");
  const healthy = voters.filter(({ alive }) => alive).length;
  if (before?.status === "True" && healthy < desired.size)
    return yes(isIn(recoveringReasons, before.reason) ? before.reason : "Members lost", before.message);
  return no("All members healthy", "");
}

const namesOf = (named: readonly { readonly name: string }[]): string => named.map(({ name }) => name).join(", ");

function lostBy({ did }: ClusterOutcome): string[] {
  return did.flatMap((action) => (action.do === "removeMember" && action.cause !== "unwanted" ? [action.member] : []));
}

/** Members that serve to their last moment and are on their way out: their pods are deleted, or they were removed. */
function leaving({ instances }: Assessment, { did }: ClusterOutcome): string[] {
  const started = instances.filter(({ member }) => member.name !== "");
  const deleted = started.filter(({ pod }) => pod?.terminating === true).map(({ name }) => name);
  const removed = did.flatMap((action) => (action.do === "removeMember" ? [action.member] : []));
  return [...new Set([...deleted, ...removed])];
}

function ready(assessment: Assessment, outcome: ClusterOutcome): Verdict<"Ready"> {
  const { desired, health, now, instances, voters, world } = assessment;
  const { version, paused } = world.cluster.spec;
  const pods = problemsOfPods(world.pods);
  const silences = silencesOf(world, now);
  const refused = refusalsIn(outcome).map((message) => `Refused: ${message}`);
  const { blocked, problems: badSecrets } = assessment.certificates;
  const missing = blocked === undefined ? [] : [`No member can be created: ${blocked}.`];
  const { roll } = assessment;
  const stop = health.t === "serving" || roll.stopped === undefined ? [] : [`The update stopped: ${roll.stopped}`];
  const because = (sentence: string): string =>
    [sentence, ...missing, ...stop, ...pods, ...silences.map((silence) => silence.sentence), ...refused].join(" ");
  if (world.problems.length > 0) return no("InvalidSpec", world.problems.join(" "));
  const foreign = foreignProblem(world);
  if (foreign !== undefined) return no("VolumesForeign", foreign);
  const left = adoptionProblem(world);
  if (left !== undefined) return no("VolumesLeft", left);
  if (outcome.obstacle?.t === "refused") return no("Refused", refused.join(" "));
  // What is only not there yet, or would never be there without a person.
  const uncertified = blocked !== undefined && badSecrets.length > 0 ? "CertificatesInvalid" : undefined;
  const stuck = pods.length > 0 ? "MemberCannotStart" : (uncertified ?? silences[0]?.reason);
  const apart = apartSentence(assessment);
  if (apart !== undefined && health.t !== "dataLost")
    return no("MembersApart", because(health.t === "serving" ? apart : sentenceOn(health, assessment)));
  if (health.t === "creating") return no(stuck ?? reasonOf(health), because(adviceOn(health, world)));
  if (health.t !== "serving") return no(reasonOf(health), because(sentenceOn(health, assessment)));
  const disputed = disputeIn(world);
  if (disputed !== undefined) return disputed;
  const unhealthy = unhealthyVoters(world, instances);
  if (unhealthy.length > 0) return no("MembersUnhealthy", because(`Not healthy: ${namesOf(unhealthy)}.`));
  // Each serves to its last moment; what is about to be lost is not whole.
  const going = leaving(assessment, outcome);
  if (instances.length <= desired.size && going.length > 0)
    return no("MembersLeaving", because(`Members are leaving: ${going.join(", ")}.`));
  const doomed = doomedSentence(assessment);
  if (doomed !== undefined) return no(stuck ?? "VolumesDoomed", because(doomed));
  const alarm = alarmOf(assessment);
  if (roll.stopped !== undefined && alarm === undefined) return no("UpdateStopped", because(rollProgress(assessment)));
  const healthy = voters.filter(({ alive }) => alive).length;
  const isChanging = instances.some(({ pod }) => pod?.changedFrom !== undefined);
  if (!isChanging && roll.surge === 0 && (healthy !== desired.size || instances.length !== desired.size)) {
    const untouched = paused ? " The cluster is paused, so nothing is done about it." : "";
    return no(stuck ?? "Scaling", because(`${healthy} healthy voters of ${desired.size}.${untouched}`));
  }
  if (alarm !== undefined) return alarm;
  if (refused.length > 0) return no("Refused", refused.join(" "));
  const others = [...versionsOf(world).keys()].filter((running) => running !== version);
  if (roll.target.refused !== undefined && others.length > 0)
    return no(
      "VersionDiffers",
      `Members run ${others.join(", ")}, and ${version} is wanted. That cannot be done: ${roll.target.refused}`,
    );
  if (roll.changes.length > 0 || roll.waits !== undefined || others.length > 0)
    return no(stuck ?? (isRolling(world) ? "Updating" : "UpdateOnDelete"), because(rollProgress(assessment)));
  if (hasYetToBeReached(world))
    return no("ServiceNotReady", because("All members serve, but no kubelet reports one of them as ready yet."));
  const warning = warningOn(assessment.version);
  return yes(
    "AllMembersReady",
    [`All ${desired.size} members are healthy voters.`, ...(warning === undefined ? [] : [warning])].join(" "),
  );
}

/** While nobody says how large the databases are, what was said before stays. */
function diskPressure({ world }: Assessment): { DiskPressure?: Verdict<"DiskPressure"> } {
  if (spaceOf(world) === undefined) return {};
  const pressure = pressureOf(world);
  return { DiskPressure: pressure === undefined ? no("EnoughSpace", "") : yes(pressure.reason, pressure.message) };
}

/** Pods that contradict what the others say: a person has to see. */
function disputeIn({ etcd }: ClusterWorld): Verdict<"Ready"> | undefined {
  if (etcd.t !== "quorum") return undefined;
  if (etcd.strangers.length > 0)
    return no(
      "ForeignCluster",
      `These pods serve another etcd cluster: ${etcd.strangers.map((s) => s.pod).join(", ")}.`,
    );
  if (etcd.rivals.length > 0)
    return no(
      "LeadersDisagree",
      `Members follow different leaders (${etcd.rivals.join(", ")}), so one of them has lost its data or was cut off: nothing is deleted until they agree. Check that the members can reach each other's port 2380.`,
    );
  return undefined;
}

function alarmOf(assessment: Assessment): Verdict<"Ready"> | undefined {
  const { roll, world } = assessment;
  const alarms = new Set(alarmsIn(world).map(({ type }) => type));
  if (alarms.has("corrupt"))
    return no("Corrupt", "etcd has found that members hold different data and takes no more writes: restore a backup.");
  if (alarms.has("noSpace"))
    return no(
      "NoSpace",
      [
        "The database is full and takes no more writes: delete keys, compact and defragment, or raise spec.etcd.quotaBackendBytes. The operator disarms the alarm when every database is below nine tenths of its quota.",
        ...(roll.changes.length > 0 && roll.waits === undefined ? [rollProgress(assessment)] : []),
      ].join(" "),
    );
  return undefined;
}

function problemsOfPods(pods: readonly MemberPod[]): string[] {
  return pods.flatMap(({ name, state, terminating }) => {
    if (terminating || !("problem" in state) || state.problem === undefined) return [];
    const { problem, advice } = { advice: undefined, ...state };
    return [`Pod ${name}: ${problem}.${advice === undefined ? "" : ` ${advice}`}`];
  });
}

/**
 * Clients that use the Service would be refused: it has no endpoint before a kubelet has probed a member, up to a second after
 * the operator could read from it. Asked only of a cluster that is about to be Ready: probes that fail on a busy node later are
 * no reason to say that a cluster which serves does not.
 */
function hasYetToBeReached({ cluster, pods }: ClusterWorld): boolean {
  const isReady = conditionOf(cluster.status.conditions, "Ready")?.status === "True";
  return !isReady && !pods.some(({ labelled, ready, terminating }) => labelled && ready && !terminating);
}

/** How many members run each version, as they say. */
export function versionsOf({ etcd }: ClusterWorld): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (etcd.t !== "quorum" && etcd.t !== "noQuorum") return counts;
  for (const { status } of etcd.answers.values()) counts.set(status.version, (counts.get(status.version) ?? 0) + 1);
  return counts;
}

/** Undefined: every member that serves has a volume that outlives its pod, or none. */
function doomedSentence({ instances, world }: Assessment): string | undefined {
  const doomed = instances.flatMap(({ name, state }) => (state.t === "doomed" ? [`${name} (${state.because})`] : []));
  if (doomed.length === 0) return undefined;
  const what = `These members serve on volumes that last only as long as their pods: ${doomed.join(", ")}.`;
  const next = world.cluster.spec.paused
    ? "The cluster is paused, so they are not replaced: keep their pods, and set spec.paused to false."
    : "Each is replaced by a member on a new volume, which joins before the old one goes: leave their pods alone.";
  return `${what} ${next}`;
}
