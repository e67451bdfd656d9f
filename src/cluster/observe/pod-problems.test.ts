import assert from "node:assert/strict";
import { test } from "node:test";
import { endProblem, schedulingProblem, waitingProblem } from "./pod-problems.ts";
import type { PodTrouble } from "./world.ts";

const log = JSON.stringify({ level: "fatal", msg: "discovery failed", error: "no such host" });

const troubles: [string, PodTrouble | undefined, RegExp, RegExp][] = [
  [
    "no node takes",
    schedulingProblem("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu."),
    /^Unschedulable: 0\/2 nodes are available: 2 Insufficient cpu$/,
    /spec\.pod\.nodeSelector.*resources/,
  ],
  [
    "waits for a volume that nobody makes",
    schedulingProblem(
      "Unschedulable",
      "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
    ),
    /unbound immediate PersistentVolumeClaims\. not found$/,
    /^Its volume cannot be made: set spec\.pod\.persistentVolumeClaimSpec\.storageClassName.*kubectl describe pvc/,
  ],
  [
    "finds no volume on any node",
    schedulingProblem("Unschedulable", "3 node(s) didn't find available persistent volumes to bind."),
    /to bind$/,
    /^Its volume cannot be made/,
  ],
  [
    "has no image",
    waitingProblem({ reason: "ImagePullBackOff", message: "not found" }),
    /^ImagePullBackOff: not found$/,
    /spec\.version, spec\.repository or spec\.image/,
  ],
  [
    "lacks a Secret",
    waitingProblem({ reason: "CreateContainerConfigError", message: 'secret "x" not found' }),
    /^CreateContainerConfigError: secret "x" not found$/,
    /create the Secret or ConfigMap/,
  ],
  [
    "has an image without etcd",
    endProblem({ exitCode: 128, reason: "StartError", message: "exec: no such file" }),
    /^StartError: etcd ended with exit code 128 \(exec: no such file\)$/,
    /an image that has \/usr\/local\/bin\/etcd/,
  ],
  [
    "has too little memory",
    endProblem({ exitCode: 137, reason: "OOMKilled", message: log }),
    /^OOMKilled: etcd ended with exit code 137$/,
    /limits\.memory/,
  ],
  [
    "ends by itself",
    endProblem({ exitCode: 1, reason: "Error", message: log }),
    /^Error: etcd ended with exit code 1 \(discovery failed: no such host\)$/,
    /spec\.pod\.etcdEnv, spec\.etcd/,
  ],
  [
    "was let in by nobody",
    endProblem({
      exitCode: 1,
      reason: "Error",
      message:
        '{"level":"fatal","msg":"discovery failed","error":"could not retrieve cluster information from the given URLs"}',
    }),
    /could not retrieve cluster information/,
    /^No peer has answered it(?!.*etcdEnv)/,
  ],
  ["ended in an unknown way", endProblem(undefined), /^Error: etcd ended with exit code unknown$/, /kubectl logs/],
];
for (const [what, trouble, problem, advice] of troubles)
  test(`a pod that ${what} is reported with what to do`, () => {
    assert.match(trouble?.problem ?? "", problem);
    assert.match(trouble?.advice ?? "", advice);
    assert.match(trouble?.advice ?? "", /\.$/);
  });

test("a container that only waits for its turn has no trouble", () => {
  for (const reason of ["ContainerCreating", "PodInitializing"]) assert.equal(waitingProblem({ reason }), undefined);
  assert.equal(waitingProblem({}), undefined);
});

test("what a kubelet, a scheduler or a webhook says at length is told in a sentence that fits a condition", () => {
  const message = "no ".repeat(100_000);
  for (const { problem } of [
    schedulingProblem("Unschedulable", message),
    waitingProblem({ reason: "ErrImagePull", message })!,
    endProblem({ exitCode: 1, reason: "StartError", message }),
    endProblem({ exitCode: 1, reason: "Error", message }),
  ])
    assert.ok(problem.length < 1200, `${problem.length} characters`);
});
