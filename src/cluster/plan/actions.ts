// What can be done to a cluster, as data. `plan.ts` chooses; `act/actions.ts` has a row for each that says how it is
// done. Nothing else touches members or pods.
import type { ClusterId, MemberId } from "../../etcd/ids.ts";
import type { Reason } from "../assess/seats.ts";
import type { MemberName } from "../objects/names.ts";

export type Action =
  /** Server-side apply of one of the two Services; without effect when it is right. */
  | { readonly do: "applyService"; readonly service: ServiceRole }
  /** So many members may be evicted at a time; the selector counts voters only. */
  | { readonly do: "applyBudget"; readonly minAvailable: number }
  /** Gives a pod back the labels that it is found by. */
  | { readonly do: "labelPod"; readonly member: MemberName; readonly uid: string }
  /** From now on its etcd does not start without data. */
  | { readonly do: "guardPod"; readonly member: MemberName; readonly uid: string }
  /** Gives its container the resources that the spec asks for, in place. */
  | { readonly do: "resizePod"; readonly member: MemberName; readonly uid: string }
  /**
   * The first member of all, made once in a cluster's life. The one action that an old view could make a disaster of:
   * the EtcdCluster is read live before it, and with an id in its status, or with another uid, nothing is made.
   */
  | { readonly do: "createSeed"; readonly member: MemberName }
  /** Writes the id into the status, before anything is built on it. */
  | { readonly do: "latchClusterId"; readonly clusterId: ClusterId }
  | {
      readonly do: "addMember";
      readonly member: MemberName;
      readonly as: "learner" | "voter";
      /** Under a URL that nobody can dial, because others start with it. */
      readonly undialable?: true;
    }
  /** The pod of a member that etcd lists already, joining with the list as etcd has it. */
  | { readonly do: "createPod"; readonly member: MemberName }
  /** May be refused as too early; then it is simply tried again soon. */
  | { readonly do: "promote"; readonly id: MemberId; readonly member: MemberName }
  /** Of a voter that nobody has found there so far: the only one before others join it, or one that was undialable. */
  | { readonly do: "updatePeerUrl"; readonly id: MemberId; readonly member: MemberName; readonly because: Reason }
  | { readonly do: "moveLeader"; readonly from: MemberId; readonly to: MemberId }
  | {
      readonly do: "removeMember";
      readonly id: MemberId;
      readonly member: MemberName;
      readonly because: Reason;
      /** Why it goes: it was lost (with or without its data left behind), or it is not wanted any more or exchanged. */
      readonly cause: "lost" | "wiped" | "unwanted";
      /** The pod that the decision rests on. It is read live first; when it is another by now, nothing is removed. */
      readonly pod: PodSeen;
    }
  | {
      readonly do: "deletePod";
      readonly member: MemberName;
      readonly uid: string;
      readonly because: Reason;
      /** Without waiting for a kubelet that may never answer. */
      readonly force: boolean;
      /** Only while the API server knows of no cluster that it could be the whole of. */
      readonly unlessServed?: true;
    };

export type ActionOf<D extends Action["do"]> = Extract<Action, { do: D }>;

export type ServiceRole = "peer" | "client";

export type PodSeen = { readonly t: "none" } | { readonly t: "uid"; readonly uid: string };

export interface Decision {
  /** Carried out in order; the first that fails ends it. */
  readonly actions: readonly Action[];
  /** In a sentence, for the log: why these, or why none. */
  readonly because: string;
  /** Milliseconds until the cluster must be looked at although nothing happened; undefined: events are enough. */
  readonly lookAgainAfter?: number | undefined;
}

export interface Plan {
  /** What keeps members from coming back without their data. Before anything else; a failure holds up nothing. */
  readonly guards: readonly Action[];
  /**
   * What the members need. The first is carried out. The next one only if that one was refused and changed nothing:
   * what can never be done must not keep the rest from being done.
   */
  readonly decisions: readonly [Decision, ...Decision[]];
  /** The objects around the members. After the members; a failure holds up nothing. */
  readonly upkeep: readonly Action[];
}
