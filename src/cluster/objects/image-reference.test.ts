import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatStartedAgain, otherReference, startedAgainIn } from "./image-reference.ts";

const digest = `sha256:${"ab".repeat(32)}`;

describe("another reference of an image", () => {
  const table: [string, string, string, string | undefined][] = [
    ["one that was pulled", "quay.io/etcd:v3.6.16", `quay.io/etcd@${digest}`, `quay.io/etcd@${digest}`],
    ["one that was loaded", "quay.io/etcd:v3.6.16", digest, digest],
    ["as Docker says it", "quay.io/etcd:v1", `docker-pullable://quay.io/etcd@${digest}`, `quay.io/etcd@${digest}`],
    ["one that is pinned", `quay.io/etcd@${digest}`, `quay.io/etcd@${digest}`, `quay.io/etcd:started-again@${digest}`],
    ["one that has no other name", digest, digest, undefined],
    ["one of which nothing is said", "quay.io/etcd:v3.6.16", "", undefined],
    ["one of which nothing of use is said", "quay.io/etcd:v3.6.16", "quay.io/etcd:v3.6.16", undefined],
  ];
  for (const [what, image, imageId, wanted] of table)
    test(what, () => assert.equal(otherReference(image, imageId), wanted));
});

test("what was written about a start counts while the container has that image", () => {
  const noted = { asked: "quay.io/etcd:v3.6.16", reference: digest, restarts: 2 };
  assert.deepEqual(startedAgainIn(formatStartedAgain(noted), digest), noted);
  assert.equal(startedAgainIn(formatStartedAgain(noted), "quay.io/etcd:v3.6.17"), undefined);
  for (const damaged of [undefined, "{", "{}", "null", JSON.stringify({ ...noted, restarts: "2" })])
    assert.equal(startedAgainIn(damaged, digest), undefined);
});
