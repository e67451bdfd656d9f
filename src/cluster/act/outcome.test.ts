import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdError } from "../../etcd/errors.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { LeadershipLost } from "../../kube/leader/fence.ts";
import { TransportError } from "../../transport/errors.ts";
import { memberName } from "../objects/names.ts";
import type { ClusterAction } from "../plan/actions.ts";
import { askingEtcd, isRefused, obstacleAt } from "./outcome.ts";
import { NotYet, Refused } from "../../controllers/obstacle.ts";

const at: ClusterAction = { do: "createPod", member: memberName("c-a") };

const table: [string, unknown, string][] = [
  ["a learner that lags", new EtcdError("learnerNotReady", "MemberPromote", ""), "notYet"],
  ["links younger than five seconds", new EtcdError("unhealthyCluster", "MemberAdd", ""), "notYet"],
  ["a change that may have happened", new EtcdError("timeout", "MemberAdd", ""), "notYet"],
  ["an etcd that says something unheard of", new EtcdError("unknown", "MemberAdd", ""), "failed"],
  ["an etcd that does not know the operator", new EtcdError("authRequired", "MemberAdd", ""), "refused"],
  ["a user who may not change members", new EtcdError("permissionDenied", "MemberAdd", ""), "refused"],
  ["a voter where a learner was asked for", new EtcdError("addedAsVoter", "MemberAdd", ""), "failed"],
  ["an object that changed meanwhile", new ApiError(409, "Conflict", ""), "notYet"],
  ["a name that is taken", new ApiError(409, "AlreadyExists", ""), "notYet"],
  ["a quota", new ApiError(403, "Forbidden", ""), "refused"],
  ["a field that the server does not take", new ApiError(422, "Invalid", ""), "refused"],
  ["a server in trouble", new ApiError(500, "InternalError", ""), "failed"],
  ["silence of the API server", new TransportError("deadline", ""), "failed"],
  ["an action that sees that it is too early", new NotYet("later"), "notYet"],
  ["an action that needs a person", new Refused("delete it"), "refused"],
];
for (const [what, error, wanted] of table) {
  test(`${what} ends a reconcile as ${wanted}`, () => {
    assert.equal(obstacleAt(at, error).t, wanted);
  });
}

test("another rule may speak after a plain no, and not after silence or what may have happened", () => {
  const refused = (error: unknown): boolean => isRefused(obstacleAt(at, error));
  assert.equal(refused(new EtcdError("tooManyLearners", "MemberAdd", "")), true);
  assert.equal(refused(new ApiError(403, "Forbidden", "")), true);
  assert.equal(refused(new EtcdError("timeout", "MemberAdd", "")), false);
  assert.equal(refused(new NotYet("a member did not answer")), false);
  assert.equal(refused(new ApiError(500, "InternalError", "")), false);
});

test("a lost leadership is nobody's outcome", () => {
  const lost = new LeadershipLost("ns/etcd-operator", "gone");
  assert.throws(() => obstacleAt(at, lost), lost);
});

test("a member that does not answer is tried again later, unlike an API server", async () => {
  await assert.rejects(askingEtcd(Promise.reject(new TransportError("unreachable", ""))), NotYet);
});
