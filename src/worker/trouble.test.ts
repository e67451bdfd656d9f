import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../kube/objects/kinds.ts";
import { stuckOn } from "./trouble.ts";

const made = "2026-01-01T00:00:00Z";

function aPod(status: NonNullable<Pod["status"]>): Pod {
  const volumes = [
    { name: "a", secret: { secretName: "aws" } },
    { name: "b", persistentVolumeClaim: { claimName: "backups" } },
    { name: "c", emptyDir: {} },
  ];
  return { metadata: { name: "p", creationTimestamp: made }, spec: { containers: [], volumes }, status };
}

const waiting = (reason: string, message?: string): NonNullable<Pod["status"]> => ({
  phase: "Pending",
  containerStatuses: [
    {
      name: "worker",
      image: "",
      imageID: "",
      ready: false,
      restartCount: 0,
      state: { waiting: { reason, ...(message !== undefined && { message }) } },
    },
  ],
});

test("a pod that no node takes is reported in the scheduler's words", () => {
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes." }];
  assert.match(
    stuckOn(aPod({ phase: "Pending", conditions }))?.because ?? "",
    /^No node takes the pod p \(Unschedulable: 0\/3 nodes\): change spec\.worker\./,
  );
});

test("an image that cannot be pulled is reported with where to set what is missing, and always in the same words", () => {
  const said = stuckOn(aPod(waiting("ErrImagePull", "denied.")))?.because ?? "";
  assert.match(said, /^The image .* of the pod p cannot be pulled\. .*set spec\.worker\.imagePullSecrets\./);
  assert.equal(stuckOn(aPod(waiting("ImagePullBackOff", "Back-off pulling image.")))?.because, said);
});

test("of a pod that waits for its volumes all that it needs is named", () => {
  assert.deepEqual(stuckOn(aPod(waiting("ContainerCreating"))), {
    by: "silent",
    because:
      "The pod p has not started yet: check that these exist: the Secret aws, the PersistentVolumeClaim backups; `kubectl describe pod p` says what it waits for.",
  });
});

test("of a pod that runs there is nothing to say", () => {
  const running = { ...waiting(""), phase: "Running" };
  assert.equal(stuckOn(aPod(running)), undefined);
});
