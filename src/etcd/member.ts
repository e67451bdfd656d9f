// The port to one etcd member. What it answers are small types of our own, so that nothing outside this folder knows
// the wire format, and an in-memory cluster can stand behind it as well as a real one.
import type { TransportError } from "../transport/errors.ts";
import type { EtcdError } from "./errors.ts";
import type { ClusterId, MemberId } from "./ids.ts";
import type { EtcdVersion } from "./versions/version.ts";

/** Each call has a deadline of its own if none is given. */
export interface Call {
  /** Milliseconds. */
  readonly deadline?: number;
  readonly signal?: AbortSignal;
  readonly beforeSend?: BeforeSend;
}

/**
 * Called at the moment a request goes out on an established connection, for each request of the call. If it throws,
 * nothing is sent and the call rejects with that error. A check made before the call can be 3 s old by then.
 */
export type BeforeSend = () => void;

/**
 * Every method throws an EtcdError for what the server says and a TransportError when it does not say it. After
 * either, a write that was not certainly refused may have happened: read again before repeating it.
 */
export interface EtcdMember {
  /** Where it is dialled. */
  readonly endpoint: string;

  /** What the member knows by itself: works without quorum and on a learner. */
  status(call?: Call): Promise<MemberStatus>;
  /**
   * Whether the member can read through the quorum. Without one it does not answer in time, just as a member that is
   * frozen: `status` tells the two apart. Throws only when the caller's signal aborts.
   */
  health(call?: Call): Promise<MemberHealth>;

  memberList(options: { readonly linearizable: boolean }, call?: Call): Promise<Membership>;
  memberAdd(member: NewMember, call?: Call): Promise<AddedMember>;
  memberPromote(id: MemberId, call?: Call): Promise<readonly Member[]>;
  memberRemove(id: MemberId, call?: Call): Promise<readonly Member[]>;
  /** Changes peer URLs. Not for learners: older servers take one for a voter then, and newer ones after a restart. */
  memberUpdate(id: MemberId, peerUrls: readonly string[], call?: Call): Promise<readonly Member[]>;
  /** Only the leader does it. */
  moveLeader(to: MemberId, call?: Call): Promise<void>;

  /** Needs quorum; `status().alarms` does not. */
  alarms(call?: Call): Promise<readonly Alarm[]>;
  disarm(alarm: Alarm, call?: Call): Promise<void>;
  /** Blocks this member until it is done. */
  defragment(call?: Call): Promise<void>;
  compact(revision: number, call?: Call): Promise<void>;
  /** Of everything up to the revision; 0 means the newest. */
  hashKv(revision: number, call?: Call): Promise<KvHash>;
  /** Hands on the database piece by piece; the last 32 bytes are its SHA-256, which has been checked at the end. */
  snapshot(onChunk: (chunk: Uint8Array) => void | Promise<void>, call?: SnapshotCall): Promise<Snapshot>;

  get(key: string, options?: ReadOptions, call?: Call): Promise<KeyValue | undefined>;
  list(prefix: string, options?: ReadOptions, call?: Call): Promise<KeyRange>;
  put(key: string, value: string | Uint8Array, call?: Call): Promise<Written>;
  delete(key: string, call?: Call): Promise<Deleted>;
  txn(txn: Txn, call?: Call): Promise<TxnResult>;
}

export interface Member {
  readonly id: MemberId;
  /** Empty until the member has started for the first time. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly learner: boolean;
}

export interface Membership {
  readonly clusterId: ClusterId;
  readonly members: readonly Member[];
}

export type NewMember =
  | { readonly as: "voter"; readonly peerUrls: readonly string[] }
  | {
      readonly as: "learner";
      readonly peerUrls: readonly string[];
      /** Of all members that run. One older than 3.4 knows no learners and would make it a voter without a word. */
      readonly oldestServer: EtcdVersion;
    };

export interface AddedMember {
  readonly member: Member;
  readonly members: readonly Member[];
}

export interface MemberStatus {
  readonly clusterId: ClusterId;
  readonly memberId: MemberId;
  /** Of the program that runs. */
  readonly version: string;
  readonly learner: boolean;
  /** Undefined when the member knows of none. */
  readonly leader: MemberId | undefined;
  readonly revision: number;
  readonly raftTerm: number;
  readonly raftIndex: number;
  /** Since 3.4. */
  readonly raftAppliedIndex: number | undefined;
  readonly dbSize: number;
  /** Since 3.4. */
  readonly dbSizeInUse: number | undefined;
  /** Since 3.6. */
  readonly dbSizeQuota: number | undefined;
  /** Since 3.6, as in `3.6.0`. */
  readonly storageVersion: string | undefined;
  /** As this member has heard of them; since 3.4. */
  readonly alarms: readonly Alarm[];
}

export type MemberHealth =
  | { readonly t: "healthy" }
  | { readonly t: "unhealthy"; readonly error: EtcdError | TransportError };

export interface Alarm {
  readonly member: MemberId;
  readonly type: AlarmType;
}

export type AlarmType = "noSpace" | "corrupt";

export interface KvHash {
  readonly hash: number;
  readonly revision: number;
  readonly compactRevision: number;
}

export interface SnapshotCall {
  /** Milliseconds until the first piece must be here; the whole may take as long as it takes. */
  readonly answerWithin?: number;
  readonly signal?: AbortSignal;
  readonly beforeSend?: BeforeSend;
}

export interface Snapshot {
  /** With the digest at the end. */
  readonly bytes: number;
  readonly sha256: string;
  /** Storage version; since 3.6. */
  readonly version: string | undefined;
}

export interface ReadOptions {
  /** From this member's own state, without asking the others. */
  readonly serializable?: boolean;
  readonly limit?: number;
  /** As of this revision. */
  readonly revision?: number;
}

export interface KeyValue {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
}

export interface KeyRange {
  /** Of the store when it was read. */
  readonly revision: number;
  readonly keys: readonly KeyValue[];
  /** The limit left some out. */
  readonly more: boolean;
}

export interface Written {
  readonly revision: number;
}

export interface Deleted extends Written {
  readonly deleted: boolean;
}

/** A key that does not exist has mod revision 0. */
export interface Txn {
  readonly when: readonly { readonly key: string; readonly modRevision: number }[];
  // `then` would make the object look like a promise.
  readonly andThen: readonly Write[];
  readonly otherwise?: readonly Write[];
}

export type Write = { readonly put: string; readonly value: string | Uint8Array } | { readonly delete: string };

export interface TxnResult extends Written {
  readonly succeeded: boolean;
}
