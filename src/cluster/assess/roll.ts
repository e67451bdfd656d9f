// The change of members that are there: which of them differ from what is wanted, how each is changed, and what the next
// change waits for. Plan and report read it, so the status says exactly what is held up, and by what.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type EtcdVersion, formatVersion, parseVersion, sameMinor } from "../../etcd/versions/version.ts";
import type { PodTls } from "../objects/tls.ts";
import type { MemberPod, Release, ClusterWorld } from "../observe/world.ts";
import { needsOtherVolume } from "./claims.ts";
import { obstacleInPlace } from "./in-place.ts";
import { hasChanged, outdatedSetting, problemOf, runsFor } from "./pods.ts";
import { outdatedTls } from "./certificates/pod-tls.ts";
import { type GateInput, gates, heldUpBy, isUrgent } from "./gates.ts";
import { checkFor, imageProblem, nodeOf, runs } from "./image-proof.ts";
import { isDoomed, isHealthy, isVoter, type Instance } from "./instances.ts";
import { answeredIn } from "./silence.ts";
import { getsLargerVolume, getsMoreRoom } from "./space.ts";
import { neighbours, weightOfFlaws } from "./standing.ts";
import type { Preparation, Target } from "./target.ts";

export interface Roll {
  readonly target: Target;
  /** What every member is to run now. */
  readonly release: Release;
  /** In the order in which they are made. */
  readonly changes: readonly Change[];
  /** What the next change waits for; undefined: it can be made. `gates.ts` has all that can be waited for. */
  readonly waits: string | undefined;
  /** What etcd must be brought to before the next change; undefined: nothing, or the change cannot wait for it. */
  readonly first: Preparation | undefined;
  /** What a person has to do something about before it goes on. */
  readonly stopped: string | undefined;
  /** One member more than asked for, while members are replaced: a new one joins before an old one leaves. */
  readonly surge: 0 | 1;
  /** How many have the version and the settings of the spec. */
  readonly updated: number;
}

export interface Change {
  readonly instance: Instance;
  readonly pod: MemberPod;
  /**
   * In place: the image is changed, and the data stays. Recreate: it gets another pod on its volume. Replace: a new
   * member takes its place.
   */
  readonly how: "inPlace" | "recreate" | "replace";
  readonly because: string;
  /** Its member is down, and this may bring it up. */
  readonly mends: boolean;
  readonly makesRoom: boolean;
}

export interface RollInput {
  readonly world: ClusterWorld;
  readonly now: number;
  /** As it is followed: with the last valid settings while the spec is wrong. */
  readonly cluster: CompleteEtcdCluster;
  /** What a pod that is made now speaks; undefined: none can be made. */
  readonly tls: PodTls | undefined;
  /** Why that is not what the spec asks for. */
  readonly tlsUnfinished: string | undefined;
  readonly size: number;
  readonly target: Target;
  readonly release: Release;
  readonly instances: readonly Instance[];
  readonly ours: readonly Instance[];
  readonly leader: Instance["member"]["id"] | undefined;
}

export function rollOf(input: RollInput): Roll {
  const { world, target, release, ours, size } = input;
  const found = changesOf(input);
  const stopped = stoppedBy(input, found);
  const gated = { ...input, changes: found, badImage: stopped };
  const changes = inOrder(found, gated);
  const [next] = changes;
  const isAtRest = next === undefined && target.first === undefined;
  const waits = isAtRest ? (settling(gated) ?? input.tlsUnfinished) : heldUpBy(next, gated);
  const first = next !== undefined && isUrgent(next, gated) ? undefined : target.first;
  const replaces = changes.some(({ how }) => how === "replace");
  const isUnderWay = ours.length > size;
  const mayBegin = waits === undefined && first === undefined && next?.how === "replace";
  const surge = isRolling(world) && replaces && (isUnderWay || mayBegin) ? 1 : 0;
  const isUpdated = (instance: Instance): boolean => {
    const { pod, answer } = instance;
    const { version } = world.cluster.spec;
    if (pod?.version !== version || pod.changedFrom !== undefined || pod.terminating) return false;
    return (answer?.status.version ?? version) === version && !changes.some((change) => change.instance === instance);
  };
  return {
    target,
    release,
    changes,
    waits,
    first,
    stopped,
    surge,
    updated: ours.filter(isVoter).filter(isUpdated).length,
  };
}

/** Members are changed by the operator, and the spec can be followed. */
export function isRolling({ cluster, problems }: ClusterWorld): boolean {
  return problems.length === 0 && cluster.spec.updateStrategy === "RollingUpdate";
}

function changesOf({ world, cluster, now, tls, target, release, ours }: RollInput): readonly Change[] {
  if (world.problems.length > 0) return [];
  return ours.filter(isVoter).flatMap((instance): Change[] => {
    const { pod } = instance;
    if (pod === undefined || pod.terminating || pod.state.t === "ended") return [];
    // It goes anyway, when another has taken its place; stopped before, it may never start again.
    if (isDoomed(instance)) return [];
    const change = (how: Change["how"], because: string, makesRoom: boolean): Change[] => [
      { instance, pod, how, because, makesRoom, mends: !instance.alive && mayBringUp(pod, how, release, now) },
    ];
    // One that did not come up after a change gets the image that is wanted now, whatever else is to be changed in it.
    if (!instance.alive && pod.changedFrom !== undefined && !runs(pod, release))
      return change("inPlace", `it has not come up in ${pod.version}`, false);
    const moreRoom = getsMoreRoom(instance, cluster, world);
    const volume = needsOtherVolume(pod, instance.claim, cluster);
    if (volume !== undefined) return change("replace", volume, moreRoom || getsLargerVolume(instance, cluster));
    const speech = tls && outdatedTls(pod, tls);
    if (speech?.by === "replace") return change("replace", speech.because, moreRoom);
    const setting = outdatedSetting(pod, cluster) ?? speech?.because;
    if (setting !== undefined) return change(pod.hasVolume ? "recreate" : "replace", setting, moreRoom);
    if (target.refused !== undefined || runs(pod, release)) return [];
    const obstacle = obstacleInPlace(pod, target.now);
    return obstacle === undefined
      ? change("inPlace", `it runs ${pod.version}`, false)
      : change("replace", obstacle, moreRoom);
  });
}

/**
 * One that does not come up first: it cannot get worse. Then what no gate holds up. Then followers, those first that can be
 * missed most or share a node (where a new member has taken its place beside an old one, the old one goes), and the leader last.
 */
function inOrder(changes: readonly Change[], gated: GateInput): readonly Change[] {
  const { leader, ours } = gated;
  const waits = new Map(changes.map((change) => [change, heldUpBy(change, gated) === undefined ? 0 : 1]));
  const rank = (change: Change): number => {
    if (change.mends) return 0;
    return change.instance.member.id === leader ? 2 : 1;
  };
  const turn = (change: Change): number => (change.mends ? 0 : (waits.get(change) ?? 0));
  // One that is silent comes up by itself, or mends.
  const flaws = ({ instance }: Change): number => (isHealthy(instance) ? weightOfFlaws(instance, ours) : 0);
  const company = ({ instance }: Change): number => neighbours(instance, ours);
  return changes.toSorted(
    (a, b) =>
      turn(a) - turn(b) ||
      rank(a) - rank(b) ||
      flaws(b) - flaws(a) ||
      company(b) - company(a) ||
      (a.instance.name < b.instance.name ? -1 : 1),
  );
}

/** Milliseconds in which a process is expected to serve; one that replays a long log may take longer. */
const servesWithinMs = 60_000;

/** What a member that is down may be down for: then nothing has to be waited for. */
function mayBringUp(pod: MemberPod, how: Change["how"], release: Release, now: number): boolean {
  if (how === "inPlace") return pod.changedFrom !== undefined || cannotStart(pod, release);
  return how === "recreate" && mayComeUpInAnotherPod(pod, now);
}

/** It does not start, or its process runs and has not served for long: other settings, in a pod on its volume, may help. */
export function mayComeUpInAnotherPod(pod: MemberPod, now: number): boolean {
  return problemOf(pod) !== undefined || runsFor(pod, now) > servesWithinMs;
}

/**
 * Its kubelet cannot make its container, perhaps because its image is gone, and another image of the same minor version is
 * wanted. One whose etcd exits is given up after a while, and replaced.
 */
function cannotStart({ image, state, version }: MemberPod, release: Release): boolean {
  if (state.t !== "starting" || state.problem === undefined || image === release.image) return false;
  const [from, to] = [parseVersion(version), parseVersion(release.version)];
  return from !== undefined && to !== undefined && sameMinor(from, to);
}

/** The same without a quorum, when nobody may be able to say who the members are: pods that do not answer. */
export function brokenPods(world: ClusterWorld, release: Release): readonly MemberPod[] {
  return silentPods(world).filter(
    (pod) => !runs(pod, release) && (pod.changedFrom !== undefined || cannotStart(pod, release)),
  );
}

export function silentPods({ etcd, pods }: ClusterWorld): readonly MemberPod[] {
  const answering = answeredIn(etcd);
  return pods.filter(({ name, state, terminating }) => !terminating && state.t !== "ended" && !answering.has(name));
}

// What it waits for

/** With nothing to change, what was changed last is waited for. */
function settling(gated: GateInput): string | undefined {
  return gated.badImage ?? gates.changing.closed(gated);
}

// What stops it

function stoppedBy({ world, release, ours }: RollInput, changes: readonly Change[]): string | undefined {
  for (const pod of world.pods.filter((one) => runs(one, release) && !one.terminating)) {
    const { name } = pod;
    const { answer, alive = false } = ours.find((instance) => instance.pod === pod) ?? {};
    const says = answer?.status.version;
    const isNew = pod.changedFrom === undefined || hasChanged(pod);
    if (alive && says !== undefined && says !== release.version && isNew)
      return `the image ${release.image} holds etcd ${says} and not ${release.version}. ${advice}`;
    const problem = problemOf(pod);
    if (!alive && pod.changedFrom !== undefined && problem !== undefined)
      return `${name} does not come up in ${release.version} (${problem}). ${advice}`;
  }
  const inPlace = changes.filter(({ how, instance }) => how === "inPlace" && instance.alive);
  for (const { pod } of inPlace) {
    const problem = imageProblem(checkFor(pod, release, world.imageChecks), release);
    if (problem !== undefined)
      return `the image ${release.image} cannot be used on ${nodeOf(pod)}: ${problem} ${advice}`;
  }
  return undefined;
}

const advice = "No other member is changed. Correct spec.version, spec.repository or spec.image, or set it back.";

export function stepsOf({ target: { now, later } }: Roll): readonly string[] {
  const all: readonly EtcdVersion[] = [now, ...later];
  return all.map(formatVersion);
}
