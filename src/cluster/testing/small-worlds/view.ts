// What the operator observes of a small world: the ClusterWorld that its real stages read. Kubernetes as the caches show it, etcd
// as it answers at that moment.
import { type CompleteEtcdCluster, imageOf, withDefaults } from "../../../api/etcd-cluster/etcd-cluster.ts";
import { type ClusterId, clusterId, type MemberId, memberId } from "../../../etcd/ids.ts";
import { memberName, type MemberName, peerUrlOf, placeholderUrlOf, seedName } from "../../objects/names.ts";
import { clientService, disruptionBudget, peerService } from "../../objects/services.ts";
import { settingsOf } from "../../objects/settings.ts";
import { plainText } from "../../objects/tls.ts";
import type {
  Claim,
  EtcdView,
  ImageCheck,
  MemberAnswer,
  MemberPod,
  PodNode,
  ClusterWorld,
} from "../../observe/world.ts";
import { minAvailable } from "../../plan/safety.ts";
import { volumesOf } from "../happenings.ts";
import {
  dataOf,
  decides,
  isUp,
  isVoting,
  type Slot,
  type SmallClaim,
  type SmallCluster,
  type SmallPod,
  type SmallWorld,
} from "./state.ts";

export const now = Date.parse("2026-01-31T12:00:00Z");
export const theId: ClusterId = clusterId(0xc1n);
const aMoment = 1000;
const long = 3_600_000;
export const versions = ["3.6.14", "3.6.16"] as const;

/** The index of a log that has its beginning still, so that new members may start together; and of one that has not. */
export type Log = "short" | "long";

export interface View {
  readonly world: ClusterWorld;
  readonly names: readonly MemberName[];
}

export const idAt = (index: number): MemberId => memberId(BigInt(index + 1));

export function namesIn({ slots }: SmallWorld): readonly MemberName[] {
  return slots.map(({ seed }, index) => (seed ? theSeedName : memberName(`demo-m${index}`)));
}

const nameAt = (names: readonly MemberName[], index: number): MemberName => names[index] ?? memberName("");

export function viewOf(small: SmallWorld, log: Log): View {
  const names = namesIn(small);
  const isDeaf = small.seenCluster !== null;
  const seen = small.slots.map((slot) => (isDeaf ? slot.seen : slot));
  const voters = small.slots.flatMap((slot, index) =>
    (isDeaf ? slot.seen : slot)?.inStatus ? nameAt(names, index) : [],
  );
  const cluster = clusterOf(small.seenCluster ?? small.cluster, voters);
  const pods = seen.flatMap((slot, index) => (slot?.pod ? [memberPod(slot.pod, index, names, small, cluster)] : []));
  const etcd = etcdOf(small, log, names, pods, cluster);
  const listed = "members" in etcd ? etcd.members.filter(({ learner }) => !learner).length : 0;
  return {
    names,
    world: {
      cluster,
      problems: [],
      pods,
      claims: seen.flatMap((slot, index) => (slot?.claim ? [claimOf(slot.claim, nameAt(names, index))] : [])),
      leftClaims: [],
      foreignClaims: [],
      imageChecks: seen.flatMap((slot, index) => (slot?.pod?.proved ? [checkAt(index)] : [])),
      peerService: peerService(cluster),
      clientService: clientService(cluster),
      budget: disruptionBudget(cluster, minAvailable(listed, cluster.spec.size)),
      etcd,
      tls: {
        readable: true,
        given: {},
        kept: {},
        authorities: {},
        damaged: {},
        identity: undefined,
        presented: new Map(),
      },
      backup: undefined,
      asking: undefined,
    },
  };
}

// The EtcdCluster

const clusters = new Map<string, CompleteEtcdCluster>();

/** The same object for the same words. */
function clusterOf(small: SmallCluster, voters: readonly string[]): CompleteEtcdCluster {
  const key = JSON.stringify([small, voters]);
  const cluster = clusters.get(key) ?? made(small, voters);
  clusters.set(key, cluster);
  return cluster;
}

function made(small: SmallCluster, voters: readonly string[]): CompleteEtcdCluster {
  return withDefaults({
    metadata: { name: "demo", namespace: "shop", uid: "uid-of-demo", generation: 1 },
    spec: {
      size: small.size,
      version: versionAt(small.version),
      paused: small.paused,
      ...specOf(small),
    },
    status: {
      ...(small.phase !== "" && { phase: small.phase }),
      ...(small.recorded && { clusterId: theId, raftLogVersion: "3.6" }),
      size: small.statusSize,
      voters: [...voters],
    },
  });
}

const specOf = ({ setting, volumes }: { setting: number; volumes: boolean }) => ({
  ...(setting > 0 && { etcd: { snapshotCount: 20_000 } }),
  ...(volumes && { pod: volumesOf("4Gi") }),
});

export const versionAt = (index: number): string => versions[index] ?? versions[0];

const theSeedName = seedName(
  withDefaults({ metadata: { name: "demo", namespace: "shop", uid: "uid-of-demo" }, spec: { size: 1 } }),
);

/** What is written down of the settings of a pod. */
const settingsTexts = new Map<string, string>();
function settingsText(setting: number, volumes: boolean): string {
  const key = `${setting} ${volumes}`;
  const known = settingsTexts.get(key) ?? settingsOf(specOf({ setting, volumes }));
  settingsTexts.set(key, known);
  return known;
}

const imageAt = (version: number): string =>
  imageOf({ repository: "quay.io/coreos/etcd", version: versionAt(version) });

// Pods and claims

function memberPod(
  pod: SmallPod,
  index: number,
  names: readonly MemberName[],
  { slots }: SmallWorld,
  cluster: CompleteEtcdCluster,
): MemberPod {
  const name = nameAt(names, index);
  const isThere = pod.state === "running" || pod.state === "exited";
  const ready = pod.state === "running" && pod.readyOnce && pod.apart === "no";
  return {
    name,
    uid: uidOf(index, pod.uid),
    createdAt: now - (pod.young ? aMoment : long),
    terminating: pod.terminating,
    state: stateOf(pod),
    ready,
    ...(!ready && pod.readyOnce && { readyOnce: true as const }),
    labelled: true,
    address: isThere ? `10.0.0.${index}` : undefined,
    node: nodeOf(pod, index),
    version: versionAt(pod.version),
    image: imageAt(pod.version),
    resources: undefined,
    flags: [],
    variables: [],
    featureGates: [],
    probes: [],
    maxLearners: 8,
    guard: pod.guard,
    hasVolume: pod.volume,
    tls: plainText,
    madeFrom: settingsText(pod.setting, pod.volume),
    ...(pod.start === "join" && { joinsWith: pod.fits ? urlsOf(slots, names, cluster) : [] }),
    ...(pod.changed !== "no" && { changedFrom: { version: versionAt(0), image: imageAt(0), restarts: 0 } }),
  };
}

export const uidOf = (index: number, uid: number): string => `uid-${index}-${uid}`;

function stateOf(pod: SmallPod): MemberPod["state"] {
  if (pod.state === "ended") return { t: "ended", problem: "Evicted" };
  // It waits for its image no longer than it takes to get it.
  if (pod.state === "pending" || pod.changed === "asked") return { t: "starting" };
  const restarts = pod.changed === "started" ? 1 : 0;
  if (pod.state === "running") return { t: "running", restarts, ...(!pod.readyOnce && { unheard: true as const }) };
  const since = now - (pod.overdue ? long : aMoment);
  return {
    t: "crashing",
    since,
    exitedAt: now - aMoment,
    restarts: restarts + 1,
    problem: "etcd exits",
    ...(pod.why === "noData" && { withoutData: true as const }),
  };
}

function nodeOf({ apart, state }: SmallPod, index: number): PodNode {
  const name = `node-${index}`;
  if (apart === "silent") return { t: "silent", name, since: now - aMoment };
  if (apart === "lost") return { t: "silent", name, since: now - long };
  return state === "pending" ? { t: "none" } : { t: "ready", name };
}

function claimOf(claim: SmallClaim, name: MemberName): Claim {
  return {
    name,
    uid: claimUidOf(name, claim.uid),
    role: claim.retired ? "retired" : "current",
    terminating: claim.terminating,
    phase: claim.bound ? "Bound" : "Pending",
    clusterUid: "uid-of-demo",
    hasHome: true,
    ...(claim.noted && {
      clusterId: theId,
      release: { version: versionAt(claim.version), image: imageAt(claim.version) },
      madeFrom: settingsText(claim.setting, true),
    }),
    peers: "http",
    owned: false,
    requested: 4 * 2 ** 30,
    capacity: 4 * 2 ** 30,
    node: { t: "none" },
  };
}

export const claimUidOf = (name: string, uid: number): string => `uid-of-claim-${name}-${uid}`;

/** What the small pod on a node has found, which takes no time here. */
function checkAt(index: number): ImageCheck {
  return {
    name: checkNameAt(index),
    uid: checkNameAt(index),
    createdAt: now - aMoment,
    terminating: false,
    node: `node-${index}`,
    image: imageAt(1),
    state: { t: "found", version: versionAt(1) },
  };
}

export const checkNameAt = (index: number): string => `check-${index}`;

// etcd

function urlOf(slot: Slot, name: MemberName, cluster: CompleteEtcdCluster): string {
  return slot.member?.placeholder === true ? placeholderUrlOf(cluster, name) : peerUrlOf(cluster, name);
}

function urlsOf(slots: readonly Slot[], names: readonly MemberName[], cluster: CompleteEtcdCluster): string[] {
  return slots.flatMap((slot, index) => (slot.member === null ? [] : [urlOf(slot, nameAt(names, index), cluster)]));
}

/** Whoever can be dialled where the operator believes it to be. */
function etcdOf(
  small: SmallWorld,
  log: Log,
  names: readonly MemberName[],
  pods: readonly MemberPod[],
  cluster: CompleteEtcdCluster,
): EtcdView {
  const { slots } = small;
  const addressed = pods.filter(({ address }) => address !== undefined);
  if (addressed.length === 0) return { t: "nobody" };
  const isDialled = (name: string, uid: number, index: number): boolean =>
    addressed.some((pod) => pod.name === name && pod.uid === uidOf(index, uid));
  const leader = slots.findIndex(({ leads }) => leads);
  const answers = new Map<MemberId, MemberAnswer>();
  slots.forEach((slot, index) => {
    const { member, pod } = slot;
    const name = nameAt(names, index);
    // One that waits for its first data answers nobody.
    if (!isUp(slot) || pod === null || dataOf(slot) === "joining" || !isDialled(name, pod.uid, index)) return;
    answers.set(idAt(index), {
      pod: name,
      healthy: member?.voter === true && leader >= 0,
      status: {
        clusterId: theId,
        memberId: idAt(index),
        version: versionAt(pod.version),
        learner: member?.voter === false,
        leader: leader < 0 ? undefined : idAt(leader),
        revision: 10,
        raftTerm: 2,
        raftIndex: indexOf(slot, log),
        raftAppliedIndex: indexOf(slot, log),
        dbSize: 20_480,
        dbSizeInUse: 20_480,
        dbSizeQuota: undefined,
        storageVersion: "3.6.0",
        downgrade: undefined,
        alarms: [],
      },
    });
  });
  if (answers.size === 0) return { t: "silent", tried: addressed.map(({ name }) => name) };
  const known = {
    clusterId: theId,
    answers,
    strangers: [],
    wiped: new Set<MemberId>(),
    rivals: [],
  };
  const members = slots.flatMap((slot, index) =>
    slot.member === null
      ? []
      : [
          {
            id: idAt(index),
            name: slot.member.named ? nameAt(names, index) : "",
            peerUrls: [urlOf(slot, nameAt(names, index), cluster)],
            clientUrls: [],
            learner: !slot.member.voter,
          },
        ],
  );
  const isRead = decides(small) && slots.some((slot, index) => isVoting(slot) && answers.has(idAt(index)));
  // A learner keeps the list to itself.
  const isRemembered = [...answers.values()].some(({ status }) => !status.learner);
  if (isRead) return { t: "quorum", ...known, members };
  return { t: "noQuorum", ...known, members: isRemembered ? members : [] };
}

const indexOf = (slot: Slot, log: Log): number => (log === "short" ? 10 : 1000) + (dataOf(slot) === "whole" ? 1 : 0);
