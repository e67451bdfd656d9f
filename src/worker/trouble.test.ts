import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../kube/objects/kinds.ts";
import { troubleOf } from "./trouble.ts";

const made = "2026-01-01T00:00:00Z";
const later = Date.parse(made) + 60_000;

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
    troubleOf(aPod({ phase: "Pending", conditions }), later) ?? "",
    /^No node takes the pod p \(Unschedulable: 0\/3 nodes\): change spec\.worker\./,
  );
});

test("an image that cannot be pulled is reported with where to set what is missing, and always in the same words", () => {
  const said = troubleOf(aPod(waiting("ErrImagePull", "denied.")), later) ?? "";
  assert.match(said, /^The image .* of the pod p cannot be pulled\. .*set spec\.worker\.imagePullSecrets\./);
  assert.equal(troubleOf(aPod(waiting("ImagePullBackOff", "Back-off pulling image.")), later), said);
});

test("a pod that waits for its volumes is given half a minute; then all that it needs is named", () => {
  const pod = aPod(waiting("ContainerCreating"));
  assert.equal(troubleOf(pod, Date.parse(made) + 20_000), undefined);
  assert.equal(
    troubleOf(pod, later),
    "The pod p has not started yet: check that these exist: the Secret aws, the PersistentVolumeClaim backups; `kubectl describe pod p` says what it waits for.",
  );
});

test("of a pod that runs there is nothing to say", () => {
  const running = { ...waiting(""), phase: "Running" };
  assert.equal(troubleOf(aPod(running), later), undefined);
});
