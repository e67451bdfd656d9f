// Everything that a decision about one EtcdCluster may depend on, read once and never changed: the object as it is
// stored, what Kubernetes shows, what etcd says. `observe.ts` makes it; `assess/` draws the conclusions.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { RestoreRequest } from "../../api/etcd-cluster/restore-annotation.ts";
import type { Member, MemberStatus } from "../../etcd/member.ts";
import { type ClusterId, type MemberId, parseClusterId } from "../../etcd/ids.ts";
import type { EnvVar, ResourceRequirements } from "kubernetes-types/core/v1.js";
import type { PodDisruptionBudget, Service } from "../../kube/objects/kinds.ts";
import type { ClientTls } from "../../etcd/members.ts";
import type { Bundle, KeyPair } from "../../tls/pem.ts";
import type { MemberName } from "../objects/names.ts";
import type { AuthorityUse, GivenUse, LeafUse, PodTls, Scheme, SecretUse } from "../objects/tls.ts";
import type { PresentedBy } from "./wire.ts";

export interface ClusterWorld {
  readonly cluster: CompleteEtcdCluster;
  /** What is wrong with the spec beyond what the API server refuses; a sentence each. Not empty: it is not applied. */
  readonly problems: readonly string[];
  /** Those that this very EtcdCluster (by uid) controls, terminating ones too. */
  readonly pods: readonly MemberPod[];
  /** The claims of members' volumes that are this very EtcdCluster's, retired ones too. */
  readonly claims: readonly Claim[];
  /** Those that an EtcdCluster of the same name, which is gone, has left behind; of its members, not retired. */
  readonly leftClaims: readonly Claim[];
  /** Copies of the volumes of another EtcdCluster, as a backup tool brings them to another namespace. Nothing may start on them. */
  readonly foreignClaims: readonly ForeignClaim[];
  /** The pods that prove an image on a node. */
  readonly imageChecks: readonly ImageCheck[];
  readonly peerService: Service | undefined;
  readonly clientService: Service | undefined;
  readonly budget: PodDisruptionBudget | undefined;
  readonly etcd: EtcdView;
  readonly tls: TlsView;
  /** The newest backup that an EtcdBackup of this cluster has taken. */
  readonly backup: LastBackup | undefined;
  /** The EtcdRestore that asks for the data to be replaced, until the status says that it is. */
  readonly asking: AskingRestore | undefined;
}

export interface AskingRestore extends RestoreRequest {
  /** `over`: it has ended, or means another EtcdCluster. `unreadable`: the operator may not read it. */
  readonly is: "underWay" | "over" | "gone" | "unreadable";
}

/**
 * All that may decide that something is taken away: what was observed, and the two policies that are about such acts. The rest
 * of the spec, and annotations, say what somebody wishes: a destructive decision that reads them does not compile.
 */
export interface Facts extends Omit<ClusterWorld, "cluster" | "asking" | "problems"> {
  readonly cluster: {
    readonly metadata: Pick<CompleteEtcdCluster["metadata"], "name" | "namespace" | "uid">;
    readonly spec: Pick<CompleteEtcdCluster["spec"], "failover" | "volumeRetention">;
    readonly status: CompleteEtcdCluster["status"];
  };
}

export interface LastBackup {
  /** Name of the EtcdBackup. */
  readonly by: string;
  readonly path: string;
  /** As in 2026-01-31T12:00:00Z. */
  readonly takenAt: string;
}

export interface TlsView {
  /** False while the operator may not read Secrets, or has not read them yet. */
  readonly readable: boolean;
  /** In the Secrets that the spec names. */
  readonly given: Partial<Readonly<Record<GivenUse, GivenSecret>>>;
  /** In the operator's own Secrets: those of members are what pods mount. */
  readonly kept: Partial<Readonly<Record<LeafUse, KeptLeaf>>>;
  /** For certificates that the operator makes. */
  readonly authorities: Partial<Readonly<Record<AuthorityUse, KeptAuthority>>>;
  /** Secrets of the operator that somebody changed so that nothing can be done with them. */
  readonly damaged: Partial<Readonly<Record<SecretUse, Damage>>>;
  /** How the operator presents itself to members. */
  readonly identity: ClientTls | undefined;
  /** What members present on the wire, by the uid of their pods. */
  readonly presented: ReadonlyMap<string, PresentedBy>;
}

export type GivenSecret =
  | { readonly t: "there"; readonly name: string; readonly data: Readonly<Record<string, string>> }
  | { readonly t: "absent"; readonly name: string }
  | { readonly t: "forbidden"; readonly name: string }
  /** The API server does not give it out. */
  | { readonly t: "unread"; readonly name: string; readonly why: string };

export interface Damage {
  /** As in "its key does not belong to its certificate". */
  readonly why: string;
  /** The certificates of its CA bundle that can be read still. */
  readonly ca?: string;
}

export interface KeptLeaf {
  readonly bundle: Bundle;
  /** Since when applications have time to read it, in milliseconds since the epoch; 0: not known. */
  readonly graceFrom: number;
}

/** Without its key, which is read when something is to be signed. */
export interface KeptAuthority {
  readonly cert: string;
  /** What it signed last. */
  readonly leaves: Partial<Readonly<Record<LeafUse, KeyPair>>>;
  /** The previous CA, whose key is kept while certificates of it are in use. */
  readonly previous?: Pick<KeptAuthority, "cert" | "leaves">;
  /** What the annotation of the EtcdCluster said when it was made. */
  readonly rotated?: string;
}

/** The id of its etcd, as the status holds it. What somebody wrote there and is no id counts for nothing. */
export function recordedIdOf({ status: { clusterId } }: CompleteEtcdCluster): ClusterId | undefined {
  return clusterId === undefined ? undefined : parseClusterId(clusterId);
}

/** A pod as the planner sees it. Its name is its member's name, for good. Members may differ from each other. */
export interface MemberPod {
  readonly name: MemberName;
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly terminating: boolean;
  readonly state: PodState;
  /** What the kubelet says of the readiness probe. */
  readonly ready: boolean;
  /** It has been ready before, if it is not now: clients were sent to it, and it may hold what they wrote. */
  readonly readyOnce?: true;
  /** It carries the labels that Services and budget select it by. */
  readonly labelled: boolean;
  /** Where it can be dialled; undefined until it has an address. */
  readonly address: string | undefined;
  readonly node: PodNode;
  /** The version in the `etcd.version` annotation. */
  readonly version: string;
  /** What the operator asked for its etcd container; where it is not written down, what the container has. */
  readonly image: string;
  /** What its container has instead: admission, as of a registry mirror, has rewritten it, or another reference of the same image. */
  readonly rewritten?: string;
  /** It was started again in place, and how often it had been restarted by then: with more that is over. */
  readonly startedAgain?: { readonly restarts: number; readonly under: "itsName" | "anotherName" };
  /** What the etcd container asks for; undefined: it asks for nothing. */
  readonly resources: ResourceRequirements | undefined;
  /** The flags that its etcd is started with, without dashes: on its command line, and as variables. */
  readonly flags: readonly string[];
  readonly variables: readonly string[];
  /** The value of the variable `feature-gates`. */
  readonly featureGates: readonly string[];
  /** The paths that its kubelet probes, or the program that it runs for it. */
  readonly probes: readonly string[];
  /** How many learners its etcd is set to admit; undefined: that is not set. */
  readonly maxLearners: number | undefined;
  /** Bytes that its database may have, as its etcd is set; absent: etcd's default. */
  readonly quota?: number;
  readonly guard: StartGuard;
  /** It is held back with the other first members of a restored cluster: nothing of it has ever run. */
  readonly gated?: true;
  /** A claim of its own holds its data (and so outlives it). */
  readonly hasVolume: boolean;
  /** The volume that it was restored from is mounted in it. */
  readonly holdsBackups?: true;
  /**
   * The peer URLs in its `initial-cluster`. etcd compares them with the real ones when it starts without data, and
   * exits when they differ, so a pod made before the list changed must be made again. Absent: not known.
   */
  readonly joinsWith?: readonly string[];
  /** The URLs under which its etcd was started to be found. Absent: not known. */
  readonly advertises?: { readonly peer: readonly string[]; readonly client: readonly string[] };
  /** What it was started to speak, and which CA bundles it has read. */
  readonly tls: PodTls;
  /** It waits for the operator to report that it serves clients, and the operator has. Absent: it does not wait. */
  readonly servingGate?: "open" | "closed";
  /** Which certificates its kubelet was last told to bring it. */
  readonly renewed?: string;
  /** The settings that it was made with, as `objects/settings.ts` writes them. Absent: not known. */
  readonly madeFrom?: string;
  /** The variables of `etcdEnv` that it was made with, as its container has them. */
  readonly etcdEnv?: readonly EnvVar[];
  /** What the EtcdCluster's annotation of that name said when the pod was made. */
  readonly restartedAt?: string;
  /** Its image was changed in place, and its member has not been seen to serve since. */
  readonly changedFrom?: ChangedFrom;
}

/** The claim of a member's own volume, which has the name of its member. */
export interface Claim {
  readonly name: MemberName;
  readonly uid: string;
  /** Its member is one of the cluster's, as far as the operator has written down. */
  readonly role: "current" | "retired";
  readonly terminating: boolean;
  /** Pending: there is no volume yet, and so no data. Lost: there is none any more. */
  readonly phase: "Pending" | "Bound" | "Lost";
  /** Names the EtcdCluster that made it; absent in those of etcd-operator 0.9. */
  readonly clusterUid?: string;
  /** The EtcdCluster whose data it holds is written on it. Older operators did not. */
  readonly hasHome: boolean;
  /** The etcd that its member has started as a part of; absent: it is not known to have started. */
  readonly clusterId?: ClusterId;
  /** What its member ran last, and the settings of its pod; absent until it has started. */
  readonly release?: Release;
  readonly madeFrom?: string;
  /** How its member's peers reach it. */
  readonly peers: Scheme;
  /** It goes with its EtcdCluster. */
  readonly owned: boolean;
  /** Bytes that it asks for, and has. */
  readonly requested: number;
  readonly capacity: number;
  /** The only place where its volume can be used, looked for while its member waits for a node; none: there may be others. */
  readonly node: PodNode;
  /** The size that its storage class refused to grow it to. */
  readonly cannotGrow?: string;
}

interface ForeignClaim {
  readonly name: string;
  readonly uid: string;
  /** The EtcdCluster whose data it holds, as in shop/orders. */
  readonly of: string;
}

export interface Release {
  readonly version: string;
  readonly image: string;
}

export interface ChangedFrom extends Release {
  /** How often its container had been restarted by then: with more it runs what it was changed to. */
  readonly restarts: number;
  /** What its container had just before the change, where that was not `image`. */
  readonly ran?: string;
}

/** A pod that proves an image on a node; `image` as it was asked for. */
export interface ImageCheck {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly terminating: boolean;
  readonly node: string;
  readonly image: string;
  readonly state: ImageCheckState;
}

export type ImageCheckState =
  /** It has yet to be pulled or to end; `problem` as in ErrImagePull. */
  | ({ readonly t: "running" } & Partial<PodTrouble>)
  /** The program ran; what it printed has yet to be read. */
  | { readonly t: "ended" }
  | { readonly t: "found"; readonly version: string }
  /** Its node did not take it, or ended it, for reasons of its own: that says nothing about the image. */
  | { readonly t: "rejected"; readonly problem: string }
  /** The program could not be run, or is no etcd. */
  | { readonly t: "failed"; readonly problem: string };

/** Whether an etcd that finds no data in its pod may start. */
export type StartGuard =
  /** It may: it has yet to start for the first time. */
  | "open"
  /** It exits: it has started before, so a start without data means that the data was lost. */
  | "closed"
  /** Nothing can be changed about it: its flags are in its command line, as etcd-operator 0.9 wrote them. */
  | "none";

/** What keeps a pod from running, and what a person can do about it; `advice` is a whole sentence, `problem` is none. */
export interface PodTrouble {
  readonly problem: string;
  readonly advice?: string;
}

export type PodState =
  /** Not on a node yet; `problem` is the scheduler's reason if it gave one. */
  | ({ readonly t: "pending" } & Partial<PodTrouble>)
  /** On its node, and no etcd process yet; `problem` as in ErrImagePull. `restoring`: its data is made from a backup. */
  | ({ readonly t: "starting"; readonly restoring?: true } & Partial<PodTrouble>)
  /**
   * `since`: its process runs, if that is known. `unheard`: its start-up probe has not passed, and it was never ready
   * before: no client was ever sent to it.
   */
  | { readonly t: "running"; readonly restarts: number; readonly since?: number; readonly unheard?: true }
  /** Between two starts of a process that keeps exiting. */
  | ({
      readonly t: "crashing";
      /** The first exit of this series. */
      readonly since: number;
      /** The last one. */
      readonly exitedAt: number;
      readonly restarts: number;
      /** etcd found no data and nobody to get it from. */
      readonly withoutData?: true;
      /** Nothing that it printed is in its status: it has a value from a Secret, which etcd might repeat. */
      readonly wordless?: true;
    } & PodTrouble)
  /** Failed, evicted or completed: this pod never runs again. */
  | { readonly t: "ended"; readonly problem: string };

export type PodNode =
  | { readonly t: "none" }
  /** `cordoned`: it takes no new pods, most likely because it is about to be drained. */
  | { readonly t: "ready"; readonly name: string; readonly cordoned?: true }
  /** Its kubelet has not been heard of since then; the pod may or may not run. */
  | { readonly t: "silent"; readonly name: string; readonly since: number }
  /** There is no such node any more; `since` when that was found, else the pod's age decides. */
  | { readonly t: "gone"; readonly name: string; readonly since?: number };

export type EtcdView =
  /** There is nobody to ask: no pod has an address. */
  | { readonly t: "nobody" }
  /** Pods were asked and none answered at all. */
  | { readonly t: "silent"; readonly tried: readonly MemberName[]; readonly unreadable?: Unreadable }
  /** Members answer, and etcd's own authentication does not let the operator manage them. */
  | {
      readonly t: "accessDenied";
      readonly trouble: AccessTrouble;
      /** The pods that refused it: etcd runs there, with its data. */
      readonly refusing: readonly MemberName[];
      /** Those of them that read through the quorum. */
      readonly serving: readonly MemberName[];
    }
  /** Members answer and cannot agree: the list is what one of them remembers, and nothing can be changed. */
  | ({ readonly t: "noQuorum" } & EtcdAnswers)
  /** The list was read through the quorum just now. */
  | ({ readonly t: "quorum" } & EtcdAnswers);

/** Why the operator is not let in. `secret`: the name of the one that the spec names. */
export type AccessTrouble =
  /** Nobody has given it a login. */
  | { readonly t: "noLogin" }
  /** Its client certificate is not that of a user who may do this. */
  | { readonly t: "certificateDenied" }
  | { readonly t: "secretIncomplete"; readonly secret: string; readonly lacks: readonly string[] }
  | {
      readonly t:
        | "secretMissing"
        | "secretForbidden"
        | "secretUnread"
        /** There is no such user, or the password does not match. */
        | "wrongPassword"
        | "notRoot"
        | "tokenRefused";
      readonly secret: string;
    };

/** Pods that answer with more than is taken, with what that was: nothing is known of what they hold. */
export type Unreadable = ReadonlyMap<MemberName, string>;

export interface EtcdAnswers {
  readonly unreadable?: Unreadable;
  readonly clusterId: ClusterId;
  readonly members: readonly Member[];
  /** By member: those not in here did not answer. */
  readonly answers: ReadonlyMap<MemberId, MemberAnswer>;
  /** Pods that answer as members of another cluster: never joined, never fed. */
  readonly strangers: readonly { readonly pod: MemberName; readonly clusterId: ClusterId }[];
  /** Members whose term or index went backwards since they were last seen: they have lost their data. */
  readonly wiped: ReadonlySet<MemberId>;
  /** The members that healthy members call their leader, when they name more than one, twice in a row. */
  readonly rivals: readonly MemberId[];
}

export interface MemberAnswer {
  readonly pod: MemberName;
  readonly status: MemberStatus;
  /** It reads through the quorum: not just alive but of use. Learners never do. */
  readonly healthy: boolean;
}
