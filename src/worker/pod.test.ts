import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "./job.ts";
import { parseResult, resultOf, workerPod } from "./pod.ts";

const nasty = "S3 said:\n\u001B[2J\u009B1m\u202E";

test("what a worker says of others is taken in as one line without what a terminal obeys", () => {
  const result = { ok: false, code: "store", message: nasty } as const;
  assert.deepEqual(parseResult(JSON.stringify(result)), { ...result, message: "S3 said: �[2J�1m�" });
  const backup = { ok: true, did: { do: "backup", kept: nasty, held: nasty } };
  assert.deepEqual(parseResult(JSON.stringify(backup)), {
    ok: true,
    did: { do: "backup", kept: "S3 said: �[2J�1m�", held: "S3 said: �[2J�1m�" },
  });
});

test("so are the kubelet's words for a container that ended", () => {
  const state = { terminated: { exitCode: 1, reason: "\u001B[31mError" } };
  const result = resultOf({ status: { containerStatuses: [{ name: "worker", state }] } } as never);
  assert.match(result?.ok === false ? result.message : "", /exit code 1, �\[31mError/);
});

test("the scratch volume has the limit that the worker is told", () => {
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" };
  const limits = (job: Partial<Job>, scratchSize?: string) => {
    const policy = { deadlineSeconds: 0, ...(scratchSize !== undefined && { scratchSize }) };
    const pod = { namespace: "n", podName: "p", owner, labels: {}, image: "i", job: job as Job, mounts: [], policy };
    const { spec } = workerPod(pod);
    const told = spec?.containers[0]?.env?.find(({ name }) => name === "ETCD_WORKER_SCRATCH_BYTES")?.value;
    return [spec?.volumes?.find(({ name }) => name === "scratch")?.emptyDir?.sizeLimit, Number(told) / 2 ** 20];
  };
  assert.deepEqual(limits({ do: "backup" }), ["64Mi", 64]);
  assert.deepEqual(limits({ do: "check" }), ["32768Mi", 32_768]);
  assert.deepEqual(limits({ do: "check" }, "100Gi"), ["102400Mi", 102_400]);
});
