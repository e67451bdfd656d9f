// What a member runs in a new pod on the volume that it has.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sampleClaim, sampleCluster } from "../testing/sample-world.ts";
import { releaseOnVolume } from "./desired.ts";

describe("a pod on the volume of a member", () => {
  const ran = { version: "3.6.15", image: "mirror.example/etcd:v3.6.15" };
  const made = { version: "3.6.16", image: "quay.io/coreos/etcd:v3.6.16" };
  const table = [
    [
      "runs what ran there last, within a minor version: the roll proves another image first",
      "RollingUpdate",
      ran,
      ran,
    ],
    ["runs what the spec says where people change members by deleting their pods", "OnDelete", ran, made],
    ["runs what the spec says where nobody knows what ran there", "RollingUpdate", undefined, made],
  ] as const;
  for (const [what, updateStrategy, release, wanted] of table)
    test(what, () => {
      const { release: _, ...blank } = sampleClaim("demo-x");
      const claim = release === undefined ? blank : { ...blank, release };
      const cluster = sampleCluster({ spec: { updateStrategy } });
      assert.deepEqual(releaseOnVolume(claim, made, cluster), wanted);
    });
});
