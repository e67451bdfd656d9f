// What can be done to a cluster, as data. `plan.ts` chooses; `act/actions.ts` has a row for each that says how it is
// done. Nothing else touches members or pods.
import type { ClusterId, MemberId } from "../../etcd/ids.ts";
import type { Reason } from "../assess/instances.ts";
import type { MemberName } from "../objects/names.ts";
import type { AuthorityUse, LeafUse, PodTrust, Scheme } from "../objects/tls.ts";
import type { MetadataChange } from "../objects/pod-metadata.ts";
import type { ChangedFrom, Release } from "../observe/world.ts";
import type { Judged } from "./safety.ts";
import type { Decision } from "../../controllers/stages.ts";

export type ClusterAction =
  /** Server-side apply of one of the two Services; without effect when it is as it should be. */
  | { readonly do: "applyService"; readonly service: ServiceRole }
  /** How many members may be evicted at a time; the selector counts voters only. */
  | { readonly do: "applyBudget"; readonly minAvailable: number }
  | { readonly do: "labelPod"; readonly member: MemberName; readonly uid: string }
  /** From now on its etcd does not start without data. */
  | { readonly do: "guardPod"; readonly member: MemberName; readonly uid: string }
  /** A CA and what it signs, or only some of that, or the previous CA is forgotten. Keys are made where they are written, and are in no action. */
  | {
      readonly do: "makeCertificates";
      readonly authority: AuthorityUse;
      readonly what: "authority" | "withoutPrevious" | readonly LeafUse[];
      readonly by?: "previous";
      readonly because: Reason;
    }
  /** A Secret of the operator gets what `assess/certificates/certificates.ts` says. */
  | { readonly do: "writeCertificate"; readonly use: LeafUse; readonly because: Reason }
  /** Writes down which CAs a pod of another operator was started with. */
  | {
      readonly do: "noteTrust";
      readonly member: MemberName;
      readonly uid: string;
      readonly tls: PodTrust;
    }
  /** Its container is started again in its pod and keeps its data; it reads the CAs that are there now, which is written down. */
  | (Judged & {
      readonly do: "startAgain";
      readonly member: MemberName;
      readonly uid: string;
      readonly tls: PodTrust;
      readonly because: Reason;
    })
  /** A kubelet that hears of a change of a pod brings the new content of its Secrets into it at once. */
  | { readonly do: "renewFiles"; readonly member: MemberName; readonly uid: string; readonly leaves: string }
  /** Its kubelet, which has no client certificate, is told that it serves clients. */
  | { readonly do: "markServing"; readonly member: MemberName; readonly uid: string }
  /** Gives it the labels and annotations that the spec asks for, in place. */
  | { readonly do: "relabelPod"; readonly member: MemberName; readonly uid: string; readonly change: MetadataChange }
  /** A small pod that proves the image on the node. */
  | { readonly do: "createImageCheck"; readonly node: string; readonly image: string }
  /** Reads which version it printed, and writes that down. */
  | { readonly do: "readImageCheck"; readonly name: string; readonly uid: string }
  | { readonly do: "deleteImageCheck"; readonly name: string; readonly uid: string }
  /** Its container is started again from this image, with its data. */
  | (Judged & {
      readonly do: "changeImage";
      readonly member: MemberName;
      readonly uid: string;
      readonly from: ChangedFrom;
      readonly to: Release;
      /** The first of all members: they are compared first, since it is the last moment at which nothing has changed. */
      readonly afterComparing: boolean;
    })
  /** It serves in the version that its image was changed to. */
  | {
      readonly do: "confirmChange";
      readonly member: MemberName;
      readonly uid: string;
      readonly from: Release;
      readonly to: Release;
    }
  | { readonly do: "enableDowngrade"; readonly to: string; readonly because: Reason }
  | { readonly do: "cancelDowngrade"; readonly because: Reason }
  /** Lets etcd take writes again: every database has room. */
  | { readonly do: "disarmNoSpace"; readonly id: MemberId }
  /** Writes into the status which version wrote what is in the raft logs from here on. */
  | { readonly do: "recordLogVersion"; readonly version: string }
  /** Gives its container the resources that the spec asks for, in place. `settings`: what it is made from with them. */
  | { readonly do: "resizePod"; readonly member: MemberName; readonly uid: string; readonly settings?: string }
  /** The first member of all, made once in a cluster's life. */
  | { readonly do: "createSeed"; readonly member: MemberName }
  /** Writes into the status which `count` members a restored cluster begins with, under names that none has had. */
  | { readonly do: "nameFirstMembers"; readonly count: number }
  /** Makes the pods of those of them that have none. When all are there, they start. */
  | { readonly do: "createFirstMembers"; readonly members: readonly MemberName[] }
  /** Writes down the pods of all that can come, and lets them start. */
  | { readonly do: "startFirstMembers"; readonly pods: readonly { readonly name: MemberName; readonly uid: string }[] }
  /** Writes into the status that the data is to be replaced, before anything is done about it. */
  | { readonly do: "beginRestore"; readonly name: string; readonly uid: string }
  /** Writes into the status that nothing of the old cluster is left: the next member is the first of the restored one. */
  | { readonly do: "beginSeed"; readonly name: string; readonly uid: string }
  /** Writes the id into the status, before anything is built on it. */
  | {
      readonly do: "recordClusterId";
      readonly clusterId: ClusterId;
      /** In a cluster that begins: the minor version that writes its raft log. */
      readonly logVersion?: string;
    }
  | {
      readonly do: "addMember";
      readonly member: MemberName;
      readonly as: "learner" | "voter";
      /** Under a URL that nobody can dial, because others start with it. */
      readonly placeholder?: true;
    }
  /** The pod of a member that etcd lists already, joining with the list as etcd has it. */
  | { readonly do: "createPod"; readonly member: MemberName }
  /**
   * The pod of a member that has started before, on the volume that it has. Without data there its etcd does not start.
   * It needs nobody's consent: the member was never removed.
   */
  | {
      readonly do: "recreatePod";
      readonly member: MemberName;
      /** The uid of the claim. */
      readonly uid: string;
      readonly release: Release;
    }
  /** Writes on the claim which etcd it holds the data of, and what its member runs. */
  | {
      readonly do: "noteOnClaim";
      readonly member: MemberName;
      readonly uid: string;
      readonly clusterId: ClusterId;
      readonly release: Release;
      readonly madeFrom: string | undefined;
      readonly peers: Scheme;
    }
  /** Takes values that must not be there from the settings on a claim. */
  | { readonly do: "noteSettings"; readonly member: MemberName; readonly uid: string; readonly settings: string }
  /** Whether it goes with the EtcdCluster, as spec.volumeRetention says. */
  | { readonly do: "ownClaim"; readonly member: MemberName; readonly uid: string }
  | { readonly do: "growClaim"; readonly member: MemberName; readonly uid: string; readonly to: string }
  /** Its member was removed: it is kept for people. */
  | { readonly do: "retireClaim"; readonly member: MemberName; readonly uid: string }
  /** Its member was removed, or it has never held any data. */
  | {
      readonly do: "deleteClaim";
      readonly member: MemberName;
      readonly uid: string;
      readonly because: Reason;
      /** Only while the API server knows of no cluster that it could hold the data of. */
      readonly unlessServed?: true;
    }
  /** Takes over a volume that an EtcdCluster of the same name has left behind. */
  | { readonly do: "adoptClaim"; readonly member: MemberName; readonly uid: string }
  /** May be refused as too early; then it is simply tried again soon. */
  | { readonly do: "promote"; readonly id: MemberId; readonly member: MemberName }
  /** For a voter that nobody has found there so far: the only one before others join it, or one that was placeholder. */
  | { readonly do: "updatePeerUrl"; readonly id: MemberId; readonly member: MemberName; readonly because: Reason }
  | { readonly do: "moveLeader"; readonly from: MemberId; readonly to: MemberId; readonly because: Reason }
  | (Judged & {
      readonly do: "removeMember";
      readonly id: MemberId;
      readonly member: MemberName;
      readonly because: Reason;
      /** Why it goes: it was lost (with or without its data left behind), or it is not wanted any more or is replaced. */
      readonly cause: "lost" | "wiped" | "unwanted";
      /** The pod that the decision rests on. */
      readonly pod: PodSeen;
    })
  | (Judged & {
      readonly do: "deletePod";
      readonly member: MemberName;
      readonly uid: string;
      readonly because: Reason;
      /** Without waiting for a kubelet that may never answer. */
      readonly force: boolean;
      /** With a second to end in, instead of the pod's own grace period: nothing that it still does is of use. */
      readonly soon?: true;
      /** Not when the cluster has served by now, of which it could be the whole; not when clients were sent to it. */
      readonly unless?: "served" | "ready";
      /** The uid of the claim that its data stays in: it must be there to stay. */
      readonly keeps?: string;
    });

export type ActionOf<D extends ClusterAction["do"]> = Extract<ClusterAction, { do: D }>;

type ServiceRole = "peer" | "client";

export type PodSeen = { readonly t: "none" } | { readonly t: "uid"; readonly uid: string };

export type ClusterDecision = Decision<ClusterAction>;

export interface ClusterPlan {
  /** What keeps members from coming back without their data. Before anything else; a failure holds up nothing. */
  readonly guards: readonly ClusterAction[];
  /**
   * What the members need. The first is carried out. The next one only if that one was refused and changed nothing:
   * what can never be done must not keep the rest from being done.
   */
  readonly decisions: readonly [ClusterDecision, ...ClusterDecision[]];
  /** The objects around the members. After the members; a failure holds up nothing. */
  readonly upkeep: readonly ClusterAction[];
}
