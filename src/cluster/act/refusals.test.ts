import assert from "node:assert/strict";
import { test } from "node:test";
import { memberName } from "../objects/names.ts";
import { obstacleAt } from "./outcome.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { fieldOfSpec } from "./refusals.ts";
import type { ClusterAction } from "../plan/actions.ts";

const fields: [string, string][] = [
  ["spec.containers[0].resources.requests", "spec.pod.resources.requests"],
  ["spec.containers[0].env[2].name", "spec.pod.etcdEnv[2].name"],
  ["spec.tolerations[0].operator", "spec.pod.tolerations[0].operator"],
  ["spec.nodeSelector", "spec.pod.nodeSelector"],
  ["metadata.annotations", "spec.pod.annotations"],
  ["spec.containers[0].image", "spec.image"],
  ["specification", "spec.pod"],
  ["<nil>", "spec.pod"],
];
for (const [ofPod, ofSpec] of fields)
  test(`what is wrong with ${ofPod} of a pod is corrected in ${ofSpec}`, () =>
    assert.equal(fieldOfSpec(ofPod), ofSpec));

const createPod = { do: "createPod", member: memberName("c-a") } as const;

function said(error: ApiError, at: ClusterAction): string {
  const obstacle = obstacleAt(at, error);
  assert.ok(obstacle.t === "refused");
  return obstacle.because;
}

test("a pod that is invalid is reported with the field to correct", () => {
  const causes = [{ field: "spec.tolerations[0].operator", message: "Unsupported value" }];
  const message = said(new ApiError(422, "Invalid", "Pod c-a is invalid: no such operator", causes), createPod);
  assert.equal(message, "Pod c-a is invalid: no such operator. Correct spec.pod.tolerations[0].operator.");
});

test("a pod that is forbidden is reported with who may have forbidden it, unlike a Service", () => {
  const forbidden = new ApiError(403, "Forbidden", "exceeded quota.");
  assert.match(said(forbidden, createPod), /^exceeded quota\. Change spec\.pod .*ResourceQuota/);
  assert.match(said(forbidden, { do: "applyService", service: "client" }), /^exceeded quota\. .*example\/rbac/);
});
