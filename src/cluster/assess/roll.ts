// The change of members that are there: which of them differ from what is wanted, how each is changed, and what the next
// change waits for. Plan and report read it, so the status says exactly what is held up, and by what.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type EtcdVersion, formatVersion } from "../../etcd/versions/version.ts";
import type { PodTls } from "../objects/tls.ts";
import type { ImageCheck, MemberPod, Release, World } from "../observe/world.ts";
import { needsOtherVolume } from "./claims.ts";
import { obstacleInPlace } from "./in-place.ts";
import { hasChanged, outdatedSetting, problemOf } from "./pods.ts";
import { outdatedTls } from "./pod-tls.ts";
import { indexOf, isHealthy, isVoter, type Seat } from "./seats.ts";
import { answeredIn } from "./silence.ts";
import { quotaOf } from "./space.ts";
import { neighbours } from "./spread.ts";
import type { Target } from "./target.ts";

export interface Roll {
  readonly target: Target;
  /** What every member is to run now. */
  readonly release: Release;
  /** In the order in which they are made. */
  readonly changes: readonly Change[];
  /** What the next change waits for; undefined: it can be made. */
  readonly waits: string | undefined;
  /** What a person has to do something about before it goes on. */
  readonly stopped: string | undefined;
  /** One member more than asked for, while members are exchanged: a new one joins before an old one leaves. */
  readonly surge: 0 | 1;
  /** How many have the version and the settings of the spec. */
  readonly updated: number;
}

export interface Change {
  readonly seat: Seat;
  readonly pod: MemberPod;
  /**
   * In place: the image is changed, and the data stays. Recreate: it gets another pod on its volume. Exchange: a new
   * member takes its place.
   */
  readonly how: "inPlace" | "recreate" | "exchange";
  readonly because: string;
}

export interface RollInput {
  readonly world: World;
  /** As it is followed: with the last valid settings while the spec is wrong. */
  readonly cluster: CompleteEtcdCluster;
  /** What a pod that is made now speaks; undefined: none can be made. */
  readonly tls: PodTls | undefined;
  /** Why that is not what the spec asks for. */
  readonly tlsUnfinished: string | undefined;
  readonly size: number;
  readonly target: Target;
  readonly release: Release;
  readonly seats: readonly Seat[];
  readonly ours: readonly Seat[];
  readonly leader: Seat["member"]["id"] | undefined;
}

export function rollOf(input: RollInput): Roll {
  const { world, target, release, ours, size } = input;
  const changes = changesOf(input);
  const stopped = stoppedBy(input, changes);
  const tlsWaits = changes.length === 0 ? input.tlsUnfinished : undefined;
  const waits = stopped ?? waitsFor(input, changes) ?? tlsWaits;
  const exchanges = changes.some(({ how }) => how === "exchange");
  const isUnderWay = ours.length > size;
  const mayBegin = waits === undefined && target.first === undefined && changes[0]?.how === "exchange";
  const surge = isRolling(world) && exchanges && (isUnderWay || mayBegin) ? 1 : 0;
  const isUpdated = (seat: Seat): boolean => {
    const { pod, answer } = seat;
    const { version } = world.cluster.spec;
    if (pod?.version !== version || pod.changedFrom !== undefined || pod.terminating) return false;
    return (answer?.status.version ?? version) === version && !changes.some((change) => change.seat === seat);
  };
  return { target, release, changes, waits, stopped, surge, updated: ours.filter(isVoter).filter(isUpdated).length };
}

/** Members are changed by the operator, and the spec can be followed. */
export function isRolling({ cluster, problems }: World): boolean {
  return problems.length === 0 && cluster.spec.updateStrategy === "RollingUpdate";
}

/**
 * One that does not come up first: it cannot get worse. Then followers, those first that share a node (where a new member
 * has taken its place beside an old one, the old one goes), and the leader last.
 */
function changesOf({ world, cluster, tls, target, release, ours, leader }: RollInput): readonly Change[] {
  if (world.problems.length > 0) return [];
  const changes = ours.filter(isVoter).flatMap((seat): Change[] => {
    const { pod } = seat;
    if (pod === undefined || pod.terminating || pod.state.t === "ended") return [];
    // One that did not come up after a change gets the image that is wanted now, whatever else is to be changed in it.
    if (!seat.alive && pod.changedFrom !== undefined && !runs(pod, release))
      return [{ seat, pod, how: "inPlace", because: `it has not come up in ${pod.version}` }];
    const volume = needsOtherVolume(pod, seat.claim, cluster);
    if (volume !== undefined) return [{ seat, pod, how: "exchange", because: volume }];
    const speech = tls && outdatedTls(pod, tls);
    if (speech?.by === "exchange") return [{ seat, pod, how: "exchange", because: speech.because }];
    const setting = outdatedSetting(pod, cluster) ?? speech?.because;
    if (setting !== undefined) return [{ seat, pod, how: pod.hasVolume ? "recreate" : "exchange", because: setting }];
    if (target.refused !== undefined || runs(pod, release)) return [];
    const obstacle = obstacleInPlace(pod, target.now);
    return [
      obstacle === undefined
        ? { seat, pod, how: "inPlace", because: `it runs ${pod.version}` }
        : { seat, pod, how: "exchange", because: obstacle },
    ];
  });
  const rank = (change: Change): number => {
    if (isBroken(change)) return 0;
    return change.seat.member.id === leader ? 2 : 1;
  };
  const company = ({ seat }: Change): number => neighbours(seat, ours);
  return changes.toSorted(
    (a, b) => rank(a) - rank(b) || company(b) - company(a) || (a.seat.name < b.seat.name ? -1 : 1),
  );
}

export const runs = (pod: Release, { version, image }: Release): boolean =>
  pod.version === version && pod.image === image;

/** Its image was changed, and it has not come up since: another change of its image is its cure. */
export const isBroken = ({ seat, how, pod }: Change): boolean =>
  !seat.alive &&
  ((how === "inPlace" && pod.changedFrom !== undefined) || (how === "recreate" && problemOf(pod) !== undefined));

/** The same without a quorum, when nobody may be able to say who the members are: pods that do not answer. */
export function brokenPods(world: World, release: Release): readonly MemberPod[] {
  return silentPods(world).filter((pod) => pod.changedFrom !== undefined && !runs(pod, release));
}

export function silentPods({ etcd, pods }: World): readonly MemberPod[] {
  const answering = answeredIn(etcd);
  return pods.filter(({ name, state, terminating }) => !terminating && state.t !== "ended" && !answering.has(name));
}

// What it waits for

function waitsFor(input: RollInput, changes: readonly Change[]): string | undefined {
  const { world, target, seats, ours, size } = input;
  const changing = ours.filter(({ pod }) => pod?.changedFrom !== undefined);
  if (changing.length > 0) return `it waits for ${namesOf(changing)} to serve again after the change`;
  if (changes.length === 0 && target.first === undefined) return undefined;
  const exchanging = changes.some(({ how }) => how === "exchange") && ours.length === size + 1 ? 1 : 0;
  const unwell = seats.filter((seat) => isVoter(seat) && !isHealthy(seat));
  if (unwell.length > 0) return `it waits for ${namesOf(unwell)} to be healthy`;
  const joining = seats.filter((seat) => !isVoter(seat));
  if (joining.length > 0) return `it waits for ${namesOf(joining)} to join`;
  if (seats.length !== size + exchanging) return `it waits until the cluster has its ${size} members`;
  return alarms(world) ?? space(world) ?? lag(seats);
}

const namesOf = (seats: readonly Seat[]): string => seats.map(({ name }) => name).join(", ");

function alarms({ etcd }: World): string | undefined {
  if (!("answers" in etcd)) return undefined;
  const raised = new Set([...etcd.answers.values()].flatMap(({ status }) => status.alarms.map(({ type }) => type)));
  return raised.size === 0 ? undefined : `it waits until etcd's alarm (${[...raised].join(", ")}) is disarmed`;
}

const fullest = 0.95;

function space(world: World): string | undefined {
  const { cluster, etcd } = world;
  if (!("answers" in etcd)) return undefined;
  for (const { pod, status } of etcd.answers.values()) {
    const quota = quotaOf(status, cluster);
    if (status.dbSize > quota * fullest)
      return `it waits until the database of ${pod} has room (${status.dbSize} of ${quota} bytes): compact and defragment, or raise spec.etcd.quotaBackendBytes`;
  }
  return undefined;
}

/** Entries: as many as etcd keeps at hand for those that lag. */
const closeBy = 5000;

function lag(seats: readonly Seat[]): string | undefined {
  const furthest = Math.max(...seats.map(indexOf));
  const behind = seats.filter((seat) => furthest - indexOf(seat) > closeBy);
  return behind.length === 0 ? undefined : `it waits for ${namesOf(behind)} to catch up`;
}

// What stops it

function stoppedBy({ world, release, ours }: RollInput, changes: readonly Change[]): string | undefined {
  for (const pod of world.pods.filter((one) => runs(one, release) && !one.terminating)) {
    const { name } = pod;
    const { answer, alive = false } = ours.find((seat) => seat.pod === pod) ?? {};
    const says = answer?.status.version;
    const isNew = pod.changedFrom === undefined || hasChanged(pod);
    if (alive && says !== undefined && says !== release.version && isNew)
      return `the image ${release.image} holds etcd ${says} and not ${release.version}. ${advice}`;
    const problem = problemOf(pod);
    if (!alive && pod.changedFrom !== undefined && problem !== undefined)
      return `${name} does not come up in ${release.version} (${problem}). ${advice}`;
  }
  const inPlace = changes.filter(({ how, seat }) => how === "inPlace" && seat.alive);
  for (const { pod } of inPlace) {
    const problem = imageProblem(checkFor(pod, release, world.imageChecks), release);
    if (problem !== undefined)
      return `the image ${release.image} cannot be used on ${nodeOf(pod)}: ${problem} ${advice}`;
  }
  return undefined;
}

const advice = "No other member is changed. Correct spec.version, spec.repository or spec.image, or set it back.";

function imageProblem(check: ImageCheck | undefined, { version }: Release): string | undefined {
  const { state } = check ?? {};
  if (state?.t === "failed") return `${state.problem}.`;
  if (state?.t === "found" && state.version !== version) return `it holds etcd ${state.version} and not ${version}.`;
  if (state?.t === "running" && state.problem !== undefined) return `${state.problem}.`;
  return undefined;
}

export const nodeOf = ({ node }: MemberPod): string => (node.t === "none" ? "" : node.name);

export function checkFor(pod: MemberPod, { image }: Release, checks: readonly ImageCheck[]): ImageCheck | undefined {
  return checks.find((check) => check.node === nodeOf(pod) && check.image === image && !check.terminating);
}

/** As a list of steps for people. */
export function stepsOf({ target: { now, later } }: Roll): readonly string[] {
  const all: readonly EtcdVersion[] = [now, ...later];
  return all.map(formatVersion);
}
