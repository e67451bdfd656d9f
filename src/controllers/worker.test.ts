// What the pod of a worker tells: its result, or why there is none.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ContainerStatus, PodStatus } from "kubernetes-types/core/v1.js";
import type { Pod } from "../kube/objects/kinds.ts";
import type { Result } from "../worker/job.ts";
import { leanWorker, observedWorker } from "./worker.ts";

const container = (name: string, state: ContainerStatus["state"]): ContainerStatus => ({
  name,
  image: `image-of-${name}`,
  imageID: "",
  ready: false,
  restartCount: 0,
  ...(state !== undefined && { state }),
});
const ended = (result: Result) => ({ terminated: { exitCode: 0, message: JSON.stringify(result) } });
const running = { running: {} };
const waiting = (reason: string) => ({ waiting: { reason } });

const pod = (status: PodStatus): Pod => ({
  metadata: { name: "w", namespace: "n", uid: "u", creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: { containers: [{ name: "worker", env: [{ name: "ETCD_WORKER_JOB", value: '{"do":"delete"}' }] }] },
  status,
});

const verified: Result = { ok: true, did: { do: "verify", revision: 5, comparedHash: true } };
const damaged: Result = { ok: false, code: "damaged", message: "The object is damaged." };

const cases: [what: string, status: PodStatus, state: object][] = [
  [
    "a result is the end",
    { phase: "Succeeded", containerStatuses: [container("worker", ended(verified))] },
    { t: "ended", result: verified, left: "nothing" },
  ],
  [
    "a result is the end even if the etcd beside it goes on",
    { phase: "Running", containerStatuses: [container("worker", ended(verified)), container("etcd", running)] },
    { t: "ended", result: verified, left: "containers" },
  ],
  [
    "what cannot be restored ends a verification",
    {
      phase: "Failed",
      initContainerStatuses: [container("restore", ended(damaged))],
      containerStatuses: [container("worker", waiting("PodInitializing"))],
    },
    { t: "ended", result: damaged, left: "nothing" },
  ],
  [
    "an eviction is the end, whatever became of the program",
    {
      phase: "Failed",
      reason: "Evicted",
      message: "The node was low on memory.",
      containerStatuses: [container("worker", { terminated: { exitCode: 137 } })],
    },
    {
      t: "ended",
      left: "nothing",
      result: {
        ok: false,
        code: "failed",
        message: "Kubernetes ended the worker pod (Evicted: The node was low on memory).",
      },
    },
  ],
  [
    "a scratch volume that overflowed is named with what to raise",
    {
      phase: "Failed",
      reason: "Evicted",
      message: 'Usage of EmptyDir volume "scratch" exceeds the limit "2Gi". ',
      initContainerStatuses: [container("restore", { terminated: { exitCode: 137 } })],
    },
    {
      t: "ended",
      left: "nothing",
      result: {
        ok: false,
        code: "failed",
        message:
          'Kubernetes ended the worker pod (Evicted: Usage of EmptyDir volume "scratch" exceeds the limit "2Gi"). Raise spec.worker.scratchSize.',
      },
    },
  ],
  [
    "a deadline that has passed is named",
    { phase: "Failed", reason: "DeadlineExceeded" },
    {
      t: "ended",
      left: "nothing",
      result: {
        ok: false,
        code: "failed",
        message:
          "Kubernetes ended the worker pod (DeadlineExceeded). It took longer than spec.worker.deadlineSeconds allows.",
      },
    },
  ],
  [
    "a success counts even if the pod was evicted after it",
    { phase: "Failed", reason: "Evicted", containerStatuses: [container("worker", ended(verified))] },
    { t: "ended", result: verified, left: "nothing" },
  ],
  [
    "a program that said why it failed is believed",
    { phase: "Failed", containerStatuses: [container("worker", ended(damaged))] },
    { t: "ended", result: damaged, left: "nothing" },
  ],
  [
    "a program that said why it failed is believed on a node that is lost",
    { phase: "Running", reason: "NodeLost", containerStatuses: [container("worker", ended(damaged))] },
    { t: "ended", result: damaged, left: "containers" },
  ],
  [
    "a program that runs has not ended",
    { phase: "Running", containerStatuses: [container("worker", running)] },
    { t: "running" },
  ],
  [
    "a restore that runs has not ended",
    {
      phase: "Pending",
      initContainerStatuses: [container("restore", running)],
      containerStatuses: [container("worker", waiting("PodInitializing"))],
    },
    { t: "running" },
  ],
];

describe("of the pod of a worker", () => {
  for (const [what, status, state] of cases)
    test(what, () => {
      assert.deepEqual(observedWorker(pod(status)).state, state);
      assert.deepEqual(observedWorker(leanWorker(pod(status))), observedWorker(pod(status)), "the cache keeps enough");
    });

  test("a result says why the etcd beside it did not answer", () => {
    const stalled: Result = { ok: false, code: "stalled", message: "etcd did not answer." };
    const { state } = observedWorker(
      pod({
        phase: "Running",
        containerStatuses: [container("worker", ended(stalled)), container("etcd", waiting("ImagePullBackOff"))],
      }),
    );
    assert.ok(state.t === "ended" && !state.result.ok);
    assert.match(state.result.message, /^etcd did not answer\. The image image-of-etcd .* Set spec\.verify\.image/);
  });

  test("one that has just been made waits, and nobody says for what", () => {
    const { state, job } = observedWorker(pod({ phase: "Pending" }));
    assert.ok(state.t === "waiting");
    assert.equal(state.stuck.by, "silent");
    assert.deepEqual(job, { do: "delete" });
  });
});
