// Worlds for tests of decisions, in as few words as the situation has: members by a letter, healthy unless said
// otherwise, in a cluster called `demo` whose Services and budget are right.
import { type CompleteEtcdCluster, type EtcdCluster, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { restoreRequestOf } from "../../api/etcd-cluster/restore-annotation.ts";
import { clusterId, type MemberId, memberId } from "../../etcd/ids.ts";
import type { AlarmType, Member, MemberStatus } from "../../etcd/member.ts";
import { type MemberName, memberName, peerUrlOf, placeholderUrlOf } from "../objects/names.ts";
import { plainText } from "../objects/tls.ts";
import { minAvailable } from "../plan/safety.ts";
import { clientService, disruptionBudget, peerService } from "../objects/services.ts";
import type { Claim, EtcdView, MemberAnswer, MemberPod, ClusterWorld } from "../observe/world.ts";

export const sampleNow = Date.parse("2026-01-31T12:00:00Z");
export const sampleClusterId = clusterId(0xc1n);
export const otherClusterId = clusterId(0xc2n);

export interface SampleMember {
  readonly letter: string;
  /** Absent: a voter. */
  readonly learner?: true;
  /** etcd has never heard it say its name. */
  readonly unnamed?: true;
  /** Its peer URL is not of this cluster. */
  readonly foreign?: true;
  /** Behind `.svc` of its name; absent: as the spec says. */
  readonly domain?: string;
  /** Its peer URL is of a cluster of this name in that namespace. */
  readonly elsewhere?: string;
  /** Its peer URL is one that nobody can dial. */
  readonly placeholder?: true;
  /** A second peer URL, as a person may have set it. */
  readonly also?: string;
  /** Absent: it answers and is healthy. */
  readonly silent?: true;
  readonly raftTerm?: number;
  readonly raftIndex?: number;
  /** Its term or index went backwards. */
  readonly wiped?: true;
  /** What it raises the alarm for. */
  readonly alarm?: AlarmType;
  /** Whom it calls its leader, by a letter; absent: the cluster's. */
  readonly follows?: string;
  /** What differs from a pod that has run for an hour; undefined: there is none. */
  readonly pod?: Partial<MemberPod> | undefined;
  /** What differs from a claim whose volume holds the member's data (fresh: it has yet to start); absent: it has none. */
  readonly claim?: Partial<Claim> & { readonly fresh?: true };
  readonly version?: string;
  /** The version that its data is stored in; absent: it does not say. */
  readonly storage?: string;
  /** What else it says of itself. */
  readonly says?: Partial<MemberStatus>;
}

export interface SampleWorld {
  readonly size?: number;
  readonly version?: string;
  readonly members?: readonly SampleMember[];
  /** Pods that belong to no member. */
  readonly orphans?: readonly (Partial<Omit<MemberPod, "name">> & { readonly name?: string })[];
  /** A letter; absent: the first member. */
  readonly leader?: string;
  /** Absent: as many answer as it takes. */
  readonly etcd?: "nobody" | "silent" | "noQuorum";
  /** Letters of those that answer with more than is taken. */
  readonly unreadable?: readonly string[];
  /** Absent: it is recorded. */
  readonly unrecorded?: true;
  readonly strangers?: readonly string[];
  /** Letters of pods that answer as members of the cluster and are not on its list. */
  readonly answering?: readonly string[];
  /** Letters of members that others call their leader. */
  readonly rivals?: readonly string[];
  readonly spec?: object;
  readonly status?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly change?: Partial<ClusterWorld>;
}

export function sampleCluster({
  size = 3,
  version = "3.6.16",
  unrecorded,
  spec,
  status,
  annotations,
}: SampleWorld): CompleteEtcdCluster {
  const stored: EtcdCluster = {
    metadata: {
      name: "demo",
      namespace: "shop",
      uid: "uid-of-demo",
      generation: 1,
      ...(annotations && { annotations }),
    },
    spec: { size, version, ...spec },
    status: {
      phase: unrecorded ? "Creating" : "Running",
      ...(!unrecorded && { clusterId: sampleClusterId }),
      ...status,
    },
  };
  return withDefaults(stored);
}

export function sampleWorld(sample: SampleWorld): ClusterWorld {
  const cluster = sampleCluster(sample);
  const { members = [], orphans = [], change } = sample;
  const pods = members.flatMap((member) => podOf(member, cluster.spec.version));
  const voters = members.filter(({ learner }) => !learner).length;
  return {
    cluster,
    problems: [],
    imageChecks: [],
    claims: members.flatMap(claimOf),
    leftClaims: [],
    foreignClaims: [],
    pods: [
      ...pods,
      ...orphans.map(({ name = "demo-orphan", ...orphan }) => samplePod(name, orphan, cluster.spec.version)),
    ],
    peerService: peerService(cluster),
    clientService: clientService(cluster),
    budget: disruptionBudget(cluster, minAvailable(voters, cluster.spec.size)),
    etcd: etcdOf(sample, cluster),
    backup: undefined,
    asking: askingIn(cluster),
    tls: {
      readable: true,
      given: {},
      kept: {},
      authorities: {},
      damaged: {},
      identity: undefined,
      presented: new Map(),
    },
    ...change,
  };
}

/** For an EtcdRestore that is under way. */
function askingIn(cluster: CompleteEtcdCluster): ClusterWorld["asking"] {
  const request = restoreRequestOf(cluster);
  return request === undefined || request.uid === cluster.status.restore?.uid
    ? undefined
    : { ...request, is: "underWay" };
}

export const sampleName = (letter: string): MemberName => memberName(`demo-${letter}`);

export function sampleId(letter: string): MemberId {
  return memberId(BigInt(letter.charCodeAt(0)));
}

/** One that has run for an hour, unless the sample says otherwise. */
export function samplePod(name: string, differs: Partial<MemberPod>, version = "3.6.16"): MemberPod {
  return {
    name: memberName(name),
    uid: `uid-of-${name}`,
    createdAt: sampleNow - 3_600_000,
    terminating: false,
    state: { t: "running", restarts: 0 },
    ready: true,
    address: "10.0.0.1",
    node: { t: "ready", name: `node-of-${name}` },
    version,
    image: `quay.io/coreos/etcd:v${version}`,
    resources: undefined,
    flags: [],
    variables: [],
    featureGates: [],
    probes: [],
    maxLearners: 8,
    guard: "closed",
    hasVolume: false,
    labelled: true,
    tls: plainText,
    ...differs,
  };
}

/** A volume of 4 GiB, in use, unless the sample says otherwise. */
export function sampleClaim(name: string, differs: Partial<Claim> = {}): Claim {
  return {
    name: memberName(name),
    uid: `uid-of-claim-${name}`,
    role: "current",
    terminating: false,
    peers: "http",
    phase: "Bound",
    clusterUid: "uid-of-demo",
    hasHome: true,
    clusterId: sampleClusterId,
    release: { version: "3.6.16", image: "quay.io/coreos/etcd:v3.6.16" },
    owned: false,
    requested: 4 * 2 ** 30,
    capacity: 4 * 2 ** 30,
    node: { t: "none" },
    ...differs,
  };
}

function claimOf({ letter, claim }: SampleMember): readonly Claim[] {
  if (claim === undefined) return [];
  const { fresh, ...differs } = claim;
  return [fresh ? freshClaim(`demo-${letter}`, differs) : sampleClaim(`demo-${letter}`, differs)];
}

/** The volume of a member that has yet to start. */
export function freshClaim(name: string, differs: Partial<Claim> = {}): Claim {
  const { clusterId: _, release: __, ...claim } = sampleClaim(name);
  return { ...claim, ...differs };
}

function podOf(member: SampleMember, version: string): readonly MemberPod[] {
  if (member.foreign || ("pod" in member && member.pod === undefined)) return [];
  const hasVolume = member.claim !== undefined;
  return [samplePod(`demo-${member.letter}`, { hasVolume, ...member.pod }, version)];
}

function etcdOf(
  {
    members = [],
    answering = [],
    etcd,
    strangers = [],
    rivals = [],
    unreadable = [],
    leader,
    version = "3.6.16",
  }: SampleWorld,
  cluster: CompleteEtcdCluster,
): EtcdView {
  if (etcd === "nobody") return { t: "nobody" };
  const overflowing = unreadable.length > 0 && {
    unreadable: new Map(unreadable.map((letter) => [sampleName(letter), "Status was answered without end"])),
  };
  if (etcd === "silent") return { t: "silent", tried: members.map(({ letter }) => sampleName(letter)), ...overflowing };
  const leading = sampleId(leader ?? members[0]?.letter ?? "a");
  const answers = [
    ...members.filter(({ silent, unnamed, foreign }) => !silent && !unnamed && !foreign),
    ...answering.map((letter) => ({ letter })),
  ];
  return {
    t: etcd ?? "quorum",
    ...overflowing,
    clusterId: sampleClusterId,
    members: members.map((member) => memberOf(member, cluster)),
    answers: new Map(answers.map((member) => [sampleId(member.letter), answerOf(member, version, leading, etcd)])),
    strangers: strangers.map((letter) => ({ pod: sampleName(letter), clusterId: otherClusterId })),
    wiped: new Set(members.filter(({ wiped }) => wiped === true).map(({ letter }) => sampleId(letter))),
    rivals: rivals.map(sampleId),
  };
}

function memberOf(sample: SampleMember, cluster: CompleteEtcdCluster): Member {
  const { letter, learner, unnamed, foreign, domain, placeholder, also, elsewhere } = sample;
  const name = sampleName(letter);
  const { spec } = cluster;
  const named =
    domain === undefined ? cluster : { ...cluster, spec: { ...spec, pod: { ...spec.pod, ClusterDomain: domain } } };
  const ours = placeholder ? placeholderUrlOf(named, name) : peerUrlOf(named, name);
  const copied = elsewhere === undefined ? ours : ours.replace(".shop.svc", `.${elsewhere}.svc`);
  const peerUrl = foreign ? `http://${letter}.elsewhere.example:2380` : copied;
  return {
    id: sampleId(letter),
    name: unnamed ? "" : name,
    peerUrls: [peerUrl, ...(also === undefined ? [] : [also])],
    clientUrls: [],
    learner: learner ?? false,
  };
}

function answerOf(member: SampleMember, version: string, leader: MemberId, etcd: SampleWorld["etcd"]): MemberAnswer {
  const status: MemberStatus = {
    clusterId: sampleClusterId,
    memberId: sampleId(member.letter),
    version: member.version ?? version,
    learner: member.learner ?? false,
    leader: etcd === undefined ? (member.follows === undefined ? leader : sampleId(member.follows)) : undefined,
    revision: 1000,
    raftTerm: member.raftTerm ?? 2,
    raftIndex: member.raftIndex ?? 1000,
    raftAppliedIndex: member.raftIndex ?? 1000,
    dbSize: 20_480,
    dbSizeInUse: 20_480,
    dbSizeQuota: undefined,
    storageVersion: member.storage,
    downgrade: undefined,
    alarms: member.alarm === undefined ? [] : [{ member: sampleId(member.letter), type: member.alarm }],
    ...member.says,
  };
  return { pod: sampleName(member.letter), status, healthy: etcd === undefined && !member.learner };
}
