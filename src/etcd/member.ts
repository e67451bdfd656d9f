// The port to one etcd member. Its types hide the wire format, so that an in-memory cluster can implement it as well as
// a real one.
import type { TransportError } from "../transport/errors.ts";
import type { EtcdError } from "./errors.ts";
import type { ClusterId, MemberId } from "./ids.ts";
import type { EtcdVersion } from "./versions/version.ts";

/** Every call has a default deadline. Where etcd asks for a login, that has a time of its own. */
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
 * Every method throws an EtcdError for an error that the server reports, and a TransportError when no complete answer
 * arrives. After either, a write that was not certainly refused may have happened: read before retrying it.
 */
export interface EtcdMember {
  /** The client URL. */
  readonly endpoint: string;

  /** What the member knows locally: works without quorum and on a learner. */
  status(call?: Call): Promise<MemberStatus>;
  /**
   * Whether the member can do a linearizable read. Without quorum the read times out, as it does on a frozen member:
   * `status` tells the two apart. Throws only when the caller's signal aborts or its `beforeSend` throws.
   */
  health(call?: Call): Promise<MemberHealth>;

  /**
   * Whether etcd's own authentication is on, from local state, whoever asks. Undefined: unknown, as before 3.5,
   * where the client certificate may have been a login.
   */
  authentication(call?: Call): Promise<Authentication>;

  memberList(options: { readonly linearizable: boolean }, call?: Call): Promise<Membership>;
  memberAdd(member: NewMember, call?: Call): Promise<AddedMember>;
  memberPromote(id: MemberId, call?: Call): Promise<readonly Member[]>;
  memberRemove(id: MemberId, call?: Call): Promise<readonly Member[]>;
  /** Changes peer URLs. Not for learners: older servers make them voters, newer ones after a restart. */
  memberUpdate(id: MemberId, peerUrls: readonly string[], call?: Call): Promise<readonly Member[]>;
  /** Only the leader accepts it. */
  moveLeader(to: MemberId, call?: Call): Promise<void>;
  /**
   * Allows the cluster to run the minor version below its own. Once it is enabled the leader lowers the cluster version,
   * for which every member must answer it, and each member brings its storage to that version: see
   * `status().storageVersion`.
   *
   * - From 3.6 on. A target below 3.5 is not sent: a server of 3.5 would enable it and never start again.
   * - Servers of 3.6 and 3.7 answer `cancel` with success whatever comes of it: see `status().downgrade`.
   * - Enabling the same version again is refused as `downgradeInProgress`, and as `invalidDowngradeTarget` once the
   *   cluster version has been lowered.
   */
  downgrade(step: DowngradeStep, call?: Call): Promise<void>;

  /** Needs quorum; `status().alarms` does not. */
  alarms(call?: Call): Promise<readonly Alarm[]>;
  disarm(alarm: Alarm, call?: Call): Promise<void>;
  /** Blocks this member until it is done. */
  defragment(call?: Call): Promise<void>;
  compact(revision: number, call?: Call): Promise<void>;
  /** Hash of all keys up to the revision; 0 means the latest. */
  hashKv(revision: number, call?: Call): Promise<KvHash>;
  /** Passes the database on in chunks. The last 32 bytes are its SHA-256, which is verified at the end. */
  snapshot(onChunk: (chunk: Uint8Array) => void | Promise<void>, call?: SnapshotCall): Promise<Snapshot>;

  get(key: string, options?: ReadOptions, call?: Call): Promise<KeyValue | undefined>;
  list(prefix: string, options?: ReadOptions, call?: Call): Promise<KeyRange>;
  put(key: string, value: string | Uint8Array, call?: Call): Promise<Written>;
  delete(key: string, call?: Call): Promise<Deleted>;
  txn(txn: Txn, call?: Call): Promise<TxnResult>;
}

export type Authentication = "on" | "off" | undefined;

export interface Member {
  readonly id: MemberId;
  /** Empty until the member started for the first time. */
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
      /** The oldest version of all running members. One before 3.4 would add a voter without an error. */
      readonly oldestServer: EtcdVersion;
    };

export interface AddedMember {
  readonly member: Member;
  readonly members: readonly Member[];
}

export interface MemberStatus {
  readonly clusterId: ClusterId;
  readonly memberId: MemberId;
  readonly version: string;
  readonly learner: boolean;
  /** Undefined when the member knows no leader. */
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
  /** Since 3.6, as in `3.6.0`. Follows the cluster version, which is that of the oldest member. */
  readonly storageVersion: string | undefined;
  /** The version that an enabled downgrade goes to, as in `3.5.0`; undefined: none is enabled. Since 3.6. */
  readonly downgrade: string | undefined;
  /** As far as this member knows; since 3.4. */
  readonly alarms: readonly Alarm[];
}

/** The version as in `3.5`; a patch may follow and does not matter. */
export type DowngradeStep =
  | { readonly do: "validate" | "enable"; readonly version: string }
  | { readonly do: "cancel" };

export type MemberHealth =
  /** `refused`: there is a quorum, and etcd does not let us read, because of who we are. */
  | { readonly t: "healthy"; readonly refused?: EtcdError }
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
  /** Milliseconds until the server must have started to answer; the stream as a whole has no deadline. */
  readonly answerWithin?: number;
  readonly signal?: AbortSignal;
  readonly beforeSend?: BeforeSend;
}

export interface Snapshot {
  /** Including the digest at the end. */
  readonly bytes: number;
  /** The digest of all these bytes. */
  readonly sha256: string;
  /** Storage version; since 3.6. */
  readonly version: string | undefined;
}

export interface ReadOptions {
  /** From local state, without quorum. */
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
  /** The revision of the store at the time of the read. */
  readonly revision: number;
  readonly keys: readonly KeyValue[];
  /** True when the limit left some out. */
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
