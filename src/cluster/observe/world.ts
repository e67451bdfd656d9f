// Everything that a decision about one EtcdCluster may depend on, read once and never changed: what was asked for,
// what Kubernetes shows, what etcd says. `observe.ts` makes it, `plan.ts` decides from it alone.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Member, MemberStatus } from "../../etcd/member.ts";
import type { ClusterId, MemberId } from "../../etcd/ids.ts";
import type { PodDisruptionBudget, Service } from "../../kube/objects/kinds.ts";

export interface World {
  /** With every default filled in. */
  readonly cluster: CompleteEtcdCluster;
  /** What is wrong with the spec beyond what the API server refuses; a sentence each. Not empty: nothing is changed. */
  readonly problems: readonly string[];
  /** Those that this very EtcdCluster (by uid) controls, terminating ones too. */
  readonly pods: readonly MemberPod[];
  readonly peerService: Service | undefined;
  readonly clientService: Service | undefined;
  readonly budget: PodDisruptionBudget | undefined;
  readonly etcd: EtcdView;
}

/** A pod as the planner sees it. Its name is its member's name, for good. */
export interface MemberPod {
  readonly name: string;
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly terminating: boolean;
  readonly state: PodState;
  /** Kubelet's word on the readiness probe. */
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
  /** A claim of its own holds its data (and so outlives it). */
  readonly hasVolume: boolean;
  /**
   * The peer URLs in its `--initial-cluster`. etcd compares them with the real ones when it starts without data, and
   * ends when they differ, so a pod made before the list changed must be made again. Absent: not known.
   */
  readonly joinsWith?: readonly string[];
  /** The settings that it was made with, as `settingsOf` names them. Absent: not known. */
  readonly madeFrom?: string;
}

/** What keeps a pod from running, and what a person can do about it; `advice` is a whole sentence, `problem` is none. */
export interface PodTrouble {
  readonly problem: string;
  readonly advice?: string;
}

export type PodState =
  /** Not on a node yet; `problem` is the scheduler's reason if it gave one. */
  | ({ readonly t: "pending" } & Partial<PodTrouble>)
  /** On its node, and no etcd process yet; `problem` as in ErrImagePull. */
  | ({ readonly t: "starting" } & Partial<PodTrouble>)
  /**
   * `since`: its process runs, if that is known. `unheard`: its start-up probe has not passed, and it was never ready
   * before: no client was ever sent to it.
   */
  | { readonly t: "running"; readonly restarts: number; readonly since?: number; readonly unheard?: true }
  /** Between two starts of a process that keeps ending; `since` the first of this row of ends. */
  | ({ readonly t: "crashing"; readonly since: number; readonly restarts: number } & PodTrouble)
  /** Failed, evicted or completed: this pod never runs again. */
  | { readonly t: "ended"; readonly problem: string };

export type PodNode =
  | { readonly t: "none" }
  | { readonly t: "ready"; readonly name: string }
  /** Its kubelet has not been heard of since then; the pod may or may not run. */
  | { readonly t: "silent"; readonly name: string; readonly since: number }
  /** There is no such node any more; `since` when that was found, else the pod's age decides. */
  | { readonly t: "gone"; readonly name: string; readonly since?: number };

/** What etcd itself says. */
export type EtcdView =
  /** There is nobody to ask: no pod has an address. */
  | { readonly t: "nobody" }
  /** Pods were asked and none answered at all. */
  | { readonly t: "silent"; readonly tried: readonly string[] }
  /** Members answer and cannot agree: the list is what one of them remembers, and nothing can be changed. */
  | ({ readonly t: "noQuorum" } & EtcdAnswers)
  /** The list was read through the quorum just now. */
  | ({ readonly t: "quorum" } & EtcdAnswers);

export interface EtcdAnswers {
  readonly clusterId: ClusterId;
  readonly members: readonly Member[];
  /** By member: those not in here did not answer. */
  readonly answers: ReadonlyMap<MemberId, MemberAnswer>;
  /** Pods that answer as members of another cluster: never joined, never fed. */
  readonly strangers: readonly { readonly pod: string; readonly clusterId: ClusterId }[];
}

export interface MemberAnswer {
  readonly status: MemberStatus;
  /** It reads through the quorum: not just alive but of use. Learners never do. */
  readonly healthy: boolean;
}
