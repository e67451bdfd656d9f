// The conditions of a cluster: Ready for programs that wait, and the four of 2018, each True or False and each with a
// sentence that says what is the matter and, where a person has to act, what to do.
import { type Conclusion, findCondition } from "../../kube/objects/conditions.ts";
import type { Outcome } from "../act/outcome.ts";
import { silencesOf } from "./silence.ts";
import type { Standing } from "./standing.ts";
import type { MemberPod, World } from "../observe/world.ts";

interface Judged {
  readonly world: World;
  readonly standing: Standing;
  readonly outcome: Outcome;
  readonly now: number;
}

type Verdict = Pick<Conclusion, "status" | "reason" | "message">;

const yes = (reason: string, message: string): Verdict => ({ status: "True", reason, message });
const no = (reason: string, message: string): Verdict => ({ status: "False", reason, message });

export function conclusionsOf(judged: Judged): Conclusion[] {
  const observedGeneration = judged.world.cluster.metadata.generation ?? 0;
  const verdicts = {
    Available: available(judged),
    Scaling: scaling(judged),
    Upgrading: no("Not upgrading", ""),
    Recovering: recovering(judged),
    Ready: ready(judged),
  };
  return Object.entries(verdicts).map(([type, verdict]) => ({ type, ...verdict, observedGeneration }));
}

function available({ standing }: Judged): Verdict {
  return standing.t === "serving" ? yes("Cluster available", "") : no(reasonOf(standing), adviceOn(standing));
}

export function reasonOf(standing: Exclude<Standing, { t: "serving" }>): string {
  return {
    creating: "Creating",
    electing: "Electing",
    joining: "Joining",
    foreign: "ForeignCluster",
    quorumLost: "QuorumLost",
    dataLost: "DataLost",
  }[standing.t];
}

export function adviceOn(standing: Exclude<Standing, { t: "serving" }>): string {
  switch (standing.t) {
    case "creating":
      return "The first member has not answered yet.";
    case "electing":
      return "The members are electing a leader; nothing can be read or written until they have one.";
    case "joining":
      return "A new member is needed for a majority and starts; nothing can be written until it has joined.";
    case "foreign":
      return `All pods that answer are of the etcd cluster ${standing.answering}, and status.clusterId says ${standing.latched}: nothing is done to them. If they hold the right data, put ${standing.answering} into status.clusterId with kubectl patch --subresource=status; else see how they came there.`;
    case "quorumLost":
      return `${standing.answering} of ${standing.voters} voters answer, and a majority is needed: nothing can be written. The cluster goes on by itself as soon as enough of its pods run again: see what keeps them from it.`;
    case "dataLost":
      break;
  }
  return `Only ${standing.left} of ${standing.voters} voters still have their data, and a majority is needed: the cluster cannot come back by itself. Restore it from a backup with an EtcdRestore, or delete the EtcdCluster and make a new one.`;
}

function scaling({ world: { cluster, etcd }, standing }: Judged): Verdict {
  const wanted = cluster.spec.size;
  // While too few answer nobody knows better than last time.
  const current = etcd.t === "quorum" ? etcd.members.length : cluster.status.size;
  const learners = standing.t === "serving" ? standing.members.learners.length : 0;
  const message = `Current cluster size: ${current}, desired cluster size: ${wanted}`;
  if (current > wanted) return yes("Scaling down", message);
  if (current < wanted || learners > 0) return yes("Scaling up", message);
  return no("Size reached", "");
}

function recovering({ world, standing, outcome }: Judged): Verdict {
  if (standing.t === "creating" || standing.t === "foreign") return no(reasonOf(standing), "");
  if (standing.t === "quorumLost" || standing.t === "dataLost") return yes("Disaster recovery", adviceOn(standing));
  const { lost, healthy } = standing.members;
  if (lost.length > 0) return yes("Members lost", `Not healthy: ${lost.join(", ")}.`);
  // A pod that is deleted serves to its last moment, and its member is off the list before it was ever unhealthy.
  const replaced = standing.members.all.length <= world.cluster.spec.size ? lostBy(outcome) : [];
  if (replaced.length > 0) return yes("Members lost", `Being replaced: ${replaced.join(", ")}.`);
  // Until all are back it is the same recovery, though the lost ones are off the list by now.
  const before = findCondition(world.cluster.status.conditions, "Recovering");
  if (before?.status === "True" && healthy.length < world.cluster.spec.size) return yes(before.reason, before.message);
  return no("All members healthy", "");
}

/** Members whose pods were told to end. */
function terminatingOf({ pods, etcd }: World): string[] {
  const members = etcd.t === "quorum" ? etcd.members.map(({ name }) => name) : [];
  return pods.filter(({ name, terminating }) => terminating && members.includes(name)).map(({ name }) => name);
}

function lostBy({ did }: Outcome): string[] {
  return did.flatMap((action) => (action.do === "removeMember" && action.lost === true ? [action.member] : []));
}

function removedBy({ did }: Outcome): string[] {
  return did.flatMap((action) => (action.do === "removeMember" ? [action.member] : []));
}

function ready(judged: Judged): Verdict {
  const { world, standing, outcome } = judged;
  const { size, version, paused } = world.cluster.spec;
  if (world.problems.length > 0) return no("InvalidSpec", world.problems.join(" "));
  if (outcome.t === "refused") return no("Refused", `Could not be done: ${outcome.message}`);
  const pods = problemsOfPods(world.pods);
  const silences = silencesOf(world, judged.now);
  const because = (sentence: string): string =>
    [sentence, ...pods, ...silences.map((silence) => silence.sentence)].join(" ");
  // What is only not there yet, or would never be there without a person.
  const stuck = pods.length > 0 ? "MemberCannotStart" : silences[0]?.reason;
  if (standing.t === "creating") return no(stuck ?? reasonOf(standing), because(adviceOn(standing)));
  if (standing.t !== "serving") return no(reasonOf(standing), because(adviceOn(standing)));
  const { healthy, all, lost } = standing.members;
  if (world.etcd.t === "quorum" && world.etcd.strangers.length > 0)
    return no(
      "ForeignCluster",
      `These pods serve another etcd cluster: ${world.etcd.strangers.map((s) => s.pod).join(", ")}.`,
    );
  if (lost.length > 0) return no("MembersUnhealthy", because(`Not healthy: ${lost.join(", ")}.`));
  // Each serves to its last moment; what is about to be lost is not whole.
  const leaving = [...terminatingOf(world), ...removedBy(outcome)];
  if (all.length <= size && leaving.length > 0)
    return no("MembersLeaving", because(`On their way out: ${[...new Set(leaving)].join(", ")}.`));
  if (healthy.length !== size || all.length !== size) {
    const untouched = paused ? " The cluster is paused, so nothing is done about it." : "";
    return no(stuck ?? "Scaling", because(`${healthy.length} healthy voters of ${size}.${untouched}`));
  }
  const alarm = alarmOf(world);
  if (alarm !== undefined) return alarm;
  const others = [...versionsOf(world).keys()].filter((running) => running !== version);
  if (others.length > 0)
    return no(
      "VersionDiffers",
      `Members run ${others.join(", ")}, and ${version} is wanted. This release does not change the version of members that run.`,
    );
  return yes("AllMembersReady", `All ${size} members are healthy voters.`);
}

function alarmOf({ etcd }: World): Verdict | undefined {
  if (etcd.t !== "quorum") return undefined;
  const alarms = new Set([...etcd.answers.values()].flatMap(({ status }) => status.alarms.map(({ type }) => type)));
  if (alarms.has("corrupt"))
    return no(
      "Corrupt",
      "etcd has found that members hold different data and takes no more requests: restore a backup.",
    );
  if (alarms.has("noSpace"))
    return no(
      "NoSpace",
      "The database is full and takes no more writes: delete keys, compact, defragment and disarm the alarm.",
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

/** How many members run each version, by their own word. */
export function versionsOf({ etcd }: World): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (etcd.t !== "quorum" && etcd.t !== "noQuorum") return counts;
  for (const { status } of etcd.answers.values()) counts.set(status.version, (counts.get(status.version) ?? 0) + 1);
  return counts;
}
