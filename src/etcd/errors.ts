// Classifies the errors of an etcd server by reason. The gRPC code is not enough: code 14 is an unhealthy cluster, a
// lost quorum and a learner's refusal, and codes differ between versions. The texts are stable, so one table maps them
// to reasons; no other code may read the text.
import { shortened } from "../transport/shortened.ts";

export type EtcdReason =
  // Membership
  | "unhealthyCluster" // the member's links to its peers are down, or younger than 5 s
  | "notEnoughStartedMembers"
  | "tooManyLearners"
  | "learnerNotReady"
  | "notALearner" // only learners are promoted
  | "learnersUnsupported" // the server is older than 3.4
  | "addedAsVoter" // an old server added a voter instead of a learner
  | "memberExists"
  | "peerUrlExists"
  | "memberNotFound"
  | "memberRemoved"
  | "invalidUrls"
  | "clusterIdMismatch"
  // Leadership
  | "notLeader"
  | "noLeader"
  | "leaderChanged"
  | "badTransferee"
  // Data
  | "noSpace"
  | "corrupt"
  | "compacted"
  | "futureRevision"
  | "requestTooLarge"
  | "tooManyOperations"
  // Access and capability
  | "notServedByLearner"
  | "unimplemented"
  | "notCapable" // the cluster's version is still too low
  // Authentication is on
  | "authRequired" // nobody is logged in
  | "permissionDenied" // somebody is, who may not do this
  | "wrongPassword" // of the user who logs in, or there is no such user
  | "notRoot" // the user who logs in does not have the role root
  | "invalidToken" // it has ended, or the member does not know it
  | "authNotEnabled" // there is nothing to log in to
  | "tooManyRequests"
  // Downgrade
  | "downgradeInProgress"
  | "noDowngrade"
  | "invalidDowngradeTarget"
  // The outcome is unknown
  | "timeout"
  | "stopped"
  | "cancelled"
  | "unknown";

const byMessage: ReadonlyMap<string, EtcdReason> = new Map<string, EtcdReason>([
  ["unhealthy cluster", "unhealthyCluster"],
  ["re-configuration failed due to not enough started members", "notEnoughStartedMembers"],
  ["too many learner members in cluster", "tooManyLearners"],
  ["can only promote a learner member which is in sync with leader", "learnerNotReady"],
  ["can only promote a learner member", "notALearner"],
  ["member ID already exist", "memberExists"],
  ["Peer URLs already exists", "peerUrlExists"],
  ["member not found", "memberNotFound"],
  ["ID removed", "memberRemoved"],
  ["given member URLs are invalid", "invalidUrls"],
  ["cluster ID mismatch", "clusterIdMismatch"],
  ["not leader", "notLeader"],
  ["no leader", "noLeader"],
  ["leader changed", "leaderChanged"],
  ["bad leader transferee", "badTransferee"],
  ["mvcc: database space exceeded", "noSpace"],
  ["corrupt cluster", "corrupt"],
  ["mvcc: required revision has been compacted", "compacted"],
  ["mvcc: required revision is a future revision", "futureRevision"],
  ["request is too large", "requestTooLarge"],
  ["too many operations in txn request", "tooManyOperations"],
  ["rpc not supported for learner", "notServedByLearner"],
  ["not capable", "notCapable"],
  ["user name is empty", "authRequired"], // what a call without a token gets once authentication is on
  ["invalid auth token", "invalidToken"],
  ["revision of auth store is old", "invalidToken"], // users have changed since the token was checked
  ["revision in header is old", "invalidToken"],
  ["authentication failed, invalid user ID or password", "wrongPassword"],
  ["authentication is not enabled", "authNotEnabled"],
  ["permission denied", "permissionDenied"],
  // The name in a client certificate is nobody's.
  ["user name not found", "permissionDenied"],
  ["user not found", "permissionDenied"],
  ["too many requests", "tooManyRequests"],
  ["cluster has a downgrade job in progress", "downgradeInProgress"],
  ["no inflight downgrade job", "noDowngrade"],
  ["wrong downgrade target version format", "invalidDowngradeTarget"],
  ["invalid downgrade target version", "invalidDowngradeTarget"],
  ["request timed out", "timeout"],
  ["request timed out, possibly due to previous leader failure", "timeout"],
  ["request timed out, possibly due to connection lost", "timeout"],
  ["request timed out, waiting for the applied index took too long", "timeout"],
  ["request timed out, leader transfer took too long", "timeout"],
  ["context deadline exceeded", "timeout"],
  ["server stopped", "stopped"],
  ["request canceled", "cancelled"],
  ["context canceled", "cancelled"],
]);

/** Messages of the server's gRPC library; details of the call follow the prefix. */
const byPrefix: readonly (readonly [string, EtcdReason])[] = [
  ["unknown method ", "unimplemented"],
  ["unknown service ", "unimplemented"],
  ["grpc: received message larger than max", "requestTooLarge"],
  ["grpc: trying to send message larger than max", "requestTooLarge"],
];

/** The part of the server that reports the error; some versions leave it out. */
const component = /^(?:etcdserver|membership|auth|raft): /;

export function classify(message: string): EtcdReason {
  const text = message.replace(component, "");
  return byMessage.get(text) ?? byPrefix.find(([prefix]) => text.startsWith(prefix))?.[1] ?? "unknown";
}

const uncertain: ReadonlySet<EtcdReason> = new Set([
  "leaderChanged", // the proposal may still be committed by the next leader
  "timeout",
  "stopped",
  "cancelled",
  "addedAsVoter",
  "unknown",
]);

export class EtcdError extends Error {
  readonly reason: EtcdReason;
  /** The RPC that failed, as in `MemberAdd`. */
  readonly method: string;
  /** gRPC's code, for the log. */
  readonly code: number | undefined;

  constructor(reason: EtcdReason, method: string, message: string, code?: number) {
    super(shortened(`${method}: ${message}`));
    this.name = "EtcdError";
    this.reason = reason;
    this.method = method;
    this.code = code;
  }

  /** True when the server certainly did nothing. Otherwise a write may still take effect: read before retrying. */
  get refused(): boolean {
    return !uncertain.has(this.reason);
  }
}
