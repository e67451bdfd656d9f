import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CheckJob, Job, RestoreJob } from "./job.ts";
import { adviceOnEviction, limited, memberScratchOf, scratchOf } from "./scratch.ts";

const GiB = 2 ** 30;
const restore = { do: "restore" } as RestoreJob;
const check = { do: "check" } as CheckJob;

describe("the scratch volume of a worker", () => {
  const rows: readonly (readonly [what: string, job: Job, size: string | undefined, GiB: number])[] = [
    ["is small where nothing is kept in files", { do: "backup" } as Job, undefined, 1 / 16],
    ["is small then whatever is asked for", { do: "delete" } as Job, "1Ti", 1 / 16],
    [
      "has twice the size of a known backup, and room for etcd's log",
      { ...restore, expectedBytes: 3 * GiB },
      undefined,
      7,
    ],
    ["is never tight for a small backup", { ...restore, expectedBytes: 1 }, undefined, 1 + 2 / GiB],
    ["takes any usual database where the size is not known", restore, undefined, 32],
    ["takes any usual database before the backup is proved", check, undefined, 32],
    ["takes that of a cluster with a usual quota", { ...check, expectedBytes: 8 * GiB }, undefined, 32],
    ["takes that of a cluster with a large quota", { ...check, expectedBytes: 100 * GiB }, undefined, 201],
    ["is what a person asks for", { ...restore, expectedBytes: 3 * GiB }, "500Gi", 500],
    ["is what a person asks for, also less", check, "2Gi", 2],
    ["is as if nothing was asked for where that is empty", check, "", 32],
  ];
  for (const [what, job, scratchSize, wanted] of rows)
    test(what, () => assert.equal(scratchOf(job, scratchSize === undefined ? {} : { scratchSize }), wanted * GiB));

  test("is written as Kubernetes takes it, and never less", () => {
    assert.deepEqual(limited(64 * 2 ** 20), { sizeLimit: "64Mi" });
    assert.deepEqual(limited(GiB + 1), { sizeLimit: "1025Mi" });
    assert.equal(memberScratchOf(GiB), 2 * GiB);
  });

  test("that overflowed says what to raise", () => {
    const said = 'Usage of EmptyDir volume "scratch" exceeds the limit "2Gi". ';
    assert.equal(adviceOnEviction("Evicted", said), "Raise spec.worker.scratchSize.");
    assert.equal(adviceOnEviction("Evicted", "The node was low on resource: memory."), undefined);
    assert.equal(adviceOnEviction("DeadlineExceeded", said), undefined);
  });
});
