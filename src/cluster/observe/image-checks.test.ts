// What came of the proof of an image, by the pod that proves it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../kube/objects/kinds.ts";
import { foundVersionAnnotation } from "../objects/image-check.ts";
import { observedImageCheck } from "./image-checks.ts";
import type { ImageCheckState } from "./world.ts";
import { waitingProblem } from "./pod-problems.ts";

type State = NonNullable<NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]["state"]>;

function check(state: State | undefined, phase = "Running", found?: string): Pod {
  const status = { name: "etcd", image: "", imageID: "", ready: false, restartCount: 0, ...(state && { state }) };
  return {
    metadata: {
      name: "demo-check",
      uid: "u",
      creationTimestamp: "2026-01-31T12:00:00Z",
      ...(found !== undefined && { annotations: { [foundVersionAnnotation]: found } }),
    },
    spec: { nodeName: "node-1", containers: [{ name: "etcd", image: "etcd:v3.7.3" }] },
    status: { phase, containerStatuses: [status] },
  };
}

const exit = (exitCode: number, more: object = {}): State => ({ terminated: { exitCode, ...more } });
const evicted = (pod: Pod): Pod => ({ ...pod, status: { ...pod.status, reason: "Evicted" } });
/** A webhook has put another container into it, which comes first by name. */
const beside = (pod: Pod): Pod => {
  const agent = { name: "agent", image: "", imageID: "", ready: true, restartCount: 0, state: { running: {} } };
  return { ...pod, status: { ...pod.status, containerStatuses: [agent, ...(pod.status?.containerStatuses ?? [])] } };
};
const pull = { reason: "ErrImagePull", message: "not found" };
const failed = (problem: string): ImageCheckState => ({ t: "failed", problem });
const table: [string, Pod, ImageCheckState][] = [
  ["that is pulled runs", check({ waiting: { reason: "ContainerCreating" } }), { t: "running" }],
  ["that cannot be pulled says so", check({ waiting: pull }), { t: "running", ...waitingProblem(pull) }],
  [
    "that is refused for a reason without advice says it",
    check({ waiting: { reason: "Odd" } }),
    { t: "running", problem: "Odd" },
  ],
  ["whose container has ended well has ended, before its pod says so", check(exit(0)), { t: "ended" }],
  ["whose pod has ended well has ended", check(undefined, "Succeeded"), { t: "ended" }],
  ["whose program fails has failed", check(exit(2)), failed("etcd --version ended with exit code 2")],
  [
    "whose program cannot be run has failed, with the kubelet's words",
    check(exit(128, { reason: "ContainerCannotRun", message: "no such file\n" }), "Failed"),
    failed("etcd --version ended with exit code 128: no such file"),
  ],
  [
    "whose program was killed has failed, with the kubelet's reason",
    check(exit(137, { reason: "OOMKilled" }), "Failed"),
    failed("etcd --version ended with exit code 137 (OOMKilled)"),
  ],
  [
    "whose pod was refused by its node says nothing about the image",
    {
      ...check(undefined),
      status: { phase: "Failed", reason: "OutOfcpu", message: "Node didn't have enough resource: cpu" },
    },
    { t: "rejected", problem: "OutOfcpu: Node didn't have enough resource: cpu" },
  ],
  [
    "whose pod was evicted in the middle says nothing about the image",
    evicted(check(exit(137), "Failed")),
    { t: "rejected", problem: "Evicted" },
  ],
  [
    "whose pod failed before its program ran says nothing about the image",
    check(undefined, "Failed"),
    { t: "rejected", problem: "phase Failed" },
  ],
  ["beside which another container runs has ended", beside(check(exit(0))), { t: "ended" }],
  ["whose version was read has it", check(exit(0), "Succeeded", "3.7.3"), { t: "found", version: "3.7.3" }],
  [
    "that printed something else has failed",
    check(exit(0), "Succeeded", ""),
    failed("the program in it does not say which version of etcd it is"),
  ],
];
for (const [what, pod, state] of table)
  test(`the proof of an image ${what}`, () => {
    assert.deepEqual(observedImageCheck(pod), {
      name: "demo-check",
      uid: "u",
      createdAt: Date.parse("2026-01-31T12:00:00Z"),
      terminating: false,
      image: "etcd:v3.7.3",
      node: "node-1",
      state,
    });
  });
