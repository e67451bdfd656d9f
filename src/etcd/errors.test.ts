import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { classify, EtcdError, type EtcdReason } from "./errors.ts";

/** What servers of 3.2 to 3.7 say. The same words come with different gRPC codes, and with or without a prefix. */
const said: readonly (readonly [string, EtcdReason])[] = [
  ["etcdserver: unhealthy cluster", "unhealthyCluster"],
  ["etcdserver: too many learner members in cluster", "tooManyLearners"],
  ["membership: too many learner members in cluster", "tooManyLearners"],
  ["etcdserver: can only promote a learner member which is in sync with leader", "learnerNotReady"],
  ["etcdserver: can only promote a learner member", "notALearner"],
  ["etcdserver: not leader", "notLeader"],
  ["etcdserver: bad leader transferee", "badTransferee"],
  ["etcdserver: member ID already exist", "memberExists"],
  ["etcdserver: Peer URLs already exists", "peerUrlExists"],
  ["etcdserver: member not found", "memberNotFound"],
  ["membership: ID removed", "memberRemoved"],
  ["etcdserver: given member URLs are invalid", "invalidUrls"],
  ["etcdserver: cluster ID mismatch", "clusterIdMismatch"],
  ["etcdserver: re-configuration failed due to not enough started members", "notEnoughStartedMembers"],
  ["re-configuration failed due to not enough started members", "notEnoughStartedMembers"],
  ["etcdserver: mvcc: database space exceeded", "noSpace"],
  ["mvcc: database space exceeded", "noSpace"],
  ["grpc: received message larger than max (3145756 vs. 2097152)", "requestTooLarge"],
  ["grpc: trying to send message larger than max (3145756 vs. 2097152)", "requestTooLarge"],
  ["etcdserver: request is too large", "requestTooLarge"],
  ["etcdserver: too many operations in txn request", "tooManyOperations"],
  ["etcdserver: mvcc: required revision has been compacted", "compacted"],
  ["etcdserver: mvcc: required revision is a future revision", "futureRevision"],
  ["etcdserver: no leader", "noLeader"],
  ["etcdserver: leader changed", "leaderChanged"],
  ["etcdserver: request timed out", "timeout"],
  ["etcdserver: request timed out, possibly due to previous leader failure", "timeout"],
  ["etcdserver: request timed out, possibly due to connection lost", "timeout"],
  ["etcdserver: request timed out, waiting for the applied index took too long", "timeout"],
  ["etcdserver: request timed out, leader transfer took too long", "timeout"],
  ["etcdserver: context deadline exceeded", "timeout"],
  ["context deadline exceeded", "timeout"],
  ["etcdserver: server stopped", "stopped"],
  ["etcdserver: request canceled", "cancelled"],
  ["context canceled", "cancelled"],
  ["etcdserver: corrupt cluster", "corrupt"],
  ["etcdserver: rpc not supported for learner", "notServedByLearner"],
  ["unknown method MemberPromote for service etcdserverpb.Cluster", "unimplemented"],
  ["unknown service etcdserverpb.Downgrade", "unimplemented"],
  ["etcdserver: not capable", "notCapable"],
  ["etcdserver: user name is empty", "authRequired"],
  ["auth: user name is empty", "authRequired"],
  ["etcdserver: invalid auth token", "invalidToken"],
  ["auth: invalid auth token", "invalidToken"],
  ["etcdserver: revision of auth store is old", "invalidToken"],
  ["auth: revision in header is old", "invalidToken"],
  ["etcdserver: authentication failed, invalid user ID or password", "wrongPassword"],
  ["etcdserver: authentication is not enabled", "authNotEnabled"],
  ["etcdserver: permission denied", "permissionDenied"],
  ["etcdserver: user name not found", "permissionDenied"],
  ["auth: user not found", "permissionDenied"],
  ["etcdserver: too many requests", "tooManyRequests"],
  ["etcdserver: cluster has a downgrade job in progress", "downgradeInProgress"],
  ["etcdserver: no inflight downgrade job", "noDowngrade"],
  ["etcdserver: wrong downgrade target version format", "invalidDowngradeTarget"],
  ["etcdserver: invalid downgrade target version", "invalidDowngradeTarget"],
  ["", "unknown"],
  ["etcdserver: something that nobody has heard of", "unknown"],
  ["the cluster is unhealthy cluster", "unknown"],
];

describe("an error of an etcd server", () => {
  for (const [message, reason] of said)
    test(`"${message}" is ${reason}`, () => {
      assert.equal(classify(message), reason);
    });

  test("is a refusal only when the server certainly did nothing", () => {
    const uncertain = new Set(["timeout", "leaderChanged", "stopped", "cancelled", "unknown"]);
    for (const [message, reason] of said)
      assert.equal(new EtcdError(reason, "Put", message).refused, !uncertain.has(reason), reason);
    assert.equal(new EtcdError("addedAsVoter", "MemberAdd", "").refused, false);
  });
});
