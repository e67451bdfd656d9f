// Whether an annotation that asks for a restore still stands, by what its EtcdRestore says.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { restoreAnnotation } from "../../api/etcd-cluster/restore-annotation.ts";
import type { EtcdRestore, EtcdRestoreStatus } from "../../api/etcd-restore/etcd-restore.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { sampleCluster } from "../testing/sample-world.ts";
import { askingRestore } from "./asking-restore.ts";

const { signal } = new AbortController();
const own = "uid-of-demo";

/** What comes of a request, and whether anybody was asked for it. */
async function looked(annotation: string | undefined, answer: EtcdRestoreStatus | ApiError, status: object = {}) {
  let asked = 0;
  const restore: EtcdRestore = { metadata: { name: "r", uid: "r1" }, spec: { etcdCluster: { name: "demo" } } };
  const api = {
    get() {
      asked += 1;
      return answer instanceof ApiError ? Promise.reject(answer) : Promise.resolve({ ...restore, status: answer });
    },
  };
  const annotations = annotation === undefined ? {} : { annotations: { [restoreAnnotation]: annotation } };
  const found = await askingRestore(sampleCluster({ status, ...annotations }), api as never, signal);
  return [found?.is, found?.to, asked];
}

describe("a request for a restore", () => {
  const inPlace = { phase: "Restoring", inPlace: true, clusterUid: own } as const;
  const making = { phase: "Restoring", inPlace: false } as const;
  const table: [string, string, EtcdRestoreStatus | ApiError, unknown[]][] = [
    ["stands while its EtcdRestore is under way", `r/r1/${own}`, inPlace, ["underWay", "this", 1]],
    ["stands in a cluster that was made with it", "r/r1/new", making, ["underWay", "new", 1]],
    ["stands once that cluster was written down", "r/r1/new", { ...making, clusterUid: own }, ["underWay", "new", 1]],
    ["is over when another cluster was", "r/r1/new", { ...making, clusterUid: "another" }, ["over", "new", 1]],
    ["of an older release stands for the cluster that was written down", "r/r1", inPlace, ["underWay", "unsaid", 1]],
    ["of an older release does not for another", "r/r1", { ...inPlace, clusterUid: "x" }, ["over", "unsaid", 1]],
    ["is over before the EtcdRestore has said what it means", `r/r1/${own}`, {}, ["over", "this", 1]],
    ["is over with its EtcdRestore", `r/r1/${own}`, { ...inPlace, phase: "Succeeded" }, ["over", "this", 1]],
    ["is over when that has failed", `r/r1/${own}`, { ...inPlace, phase: "Failed" }, ["over", "this", 1]],
    ["of an EtcdRestore that was made again is gone", `r/r0/${own}`, inPlace, ["gone", "this", 1]],
    ["of none is gone", `r/r1/${own}`, new ApiError(404, "NotFound", ""), ["gone", "this", 1]],
    ["cannot be read", `r/r1/${own}`, new ApiError(403, "Forbidden", ""), ["unreadable", "this", 1]],
    ["of another cluster is nobody's, without a question", "r/r1/another", inPlace, [undefined, undefined, 0]],
  ];
  for (const [what, annotation, answer, wanted] of table)
    test(what, async () => assert.deepEqual(await looked(annotation, answer), wanted));

  test("that the cluster has taken up, or that is not there, costs no question", async () => {
    const status = { restore: { name: "r", uid: "r1", phase: "Done" } };
    assert.deepEqual(await looked(`r/r1/${own}`, inPlace, status), [undefined, undefined, 0]);
    assert.deepEqual(await looked(undefined, inPlace), [undefined, undefined, 0]);
  });

  test("is not decided on while the API server does not answer", async () => {
    const down = new ApiError(500, "InternalError", "");
    await assert.rejects(looked(`r/r1/${own}`, down), down);
  });
});
