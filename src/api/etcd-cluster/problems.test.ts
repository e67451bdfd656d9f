// Every invalid EtcdCluster gets a sentence that says what is wrong, and no valid one does.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { type EtcdCluster, problemsOf, withDefaults } from "./etcd-cluster.ts";
import { refusalsOf } from "../generate/reference.ts";
import { etcdCluster } from "./kind.ts";
import { badClusters } from "./testing/bad-clusters.ts";
import { oldManifests } from "./testing/old-manifests.ts";

/** Objects that were stored before the schema existed can be anything, whatever the types say. */
const stored = (name: string, spec: unknown): EtcdCluster => ({ metadata: { name }, spec }) as EtcdCluster;

describe("the problems of an EtcdCluster", () => {
  for (const { what, name = "example", spec, problems } of badClusters)
    it(`name ${what}`, () => assert.deepEqual(problemsOf(stored(name, spec)), problems));

  for (const { what, object } of oldManifests)
    it(`are none with a manifest of etcd-operator 0.9: ${what}`, () =>
      assert.deepEqual(problemsOf(stored(object.metadata.name, object["spec"])), []));

  const good: Record<string, unknown> = {
    "each size": { size: 9 },
    "versions with leading letters": { size: 1, version: "vv3.6.16" },
    "release candidates": { size: 1, version: "3.7.0-rc.0" },
    "a registry at an IPv6 address": { size: 1, repository: "[fd00::1]:5000/etcd" },
    "an image by its digest": { size: 1, image: `quay.io/coreos/etcd@sha256:${"0".repeat(64)}` },
    "a flag under its older name": {
      size: 1,
      version: "3.7.3",
      etcd: { extraArgs: ["--experimental-compaction-batch-limit=500", "--pre-vote"] },
    },
    "hours, durations and revisions": { size: 1, version: "3.6.16", etcd: { autoCompactionRetention: "1h30m" } },
    "revisions to keep": {
      size: 1,
      version: "3.6.16",
      etcd: { autoCompactionMode: "revision", autoCompactionRetention: "1000" },
    },
    "a setting as a variable alone": {
      size: 1,
      version: "3.6.16",
      pod: { etcdEnv: [{ name: "ETCD_QUOTA_BACKEND_BYTES", value: "1" }] },
    },
  };
  for (const [what, spec] of Object.entries(good))
    it(`are none with ${what}`, () => assert.deepEqual(problemsOf(stored("example", spec)), []));

  it("have a test for every sentence", () => {
    const tried = new Set(badClusters.flatMap(({ problems }) => problems));
    // One of three Secrets stands for all.
    const untried = refusalsOf(etcdCluster).filter(
      (says) => !tried.has(says) && !says.includes("the name of a Secret"),
    );
    assert.deepEqual(untried, []);
  });

  it("are the same with and without the defaults", () => {
    for (const { name = "example", spec, problems } of badClusters) {
      // Values of a wrong type are dropped when the defaults are filled in.
      if (problems.some((sentence) => /missing: it must|must be (a|an|true) |\[/.test(sentence))) continue;
      assert.deepEqual(problemsOf(withDefaults(stored(name, spec))), problems);
    }
  });

  it("can be computed for any JSON", () => {
    const fields = ["size", "version", "pod", "etcd", "TLS", "static", "member", "labels", "etcdEnv", "extraArgs"];
    const json = fc.letrec((again) => ({
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.constantFrom(null, true, 0, 3, "", "3.6.16", "x"),
        fc.array(again("value"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...fields), again("value"), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(json, (spec) => {
        const complete = withDefaults(stored("example", spec));
        assert.ok(Array.isArray(problemsOf(stored("example", spec))));
        assert.deepEqual(withDefaults(complete), complete);
      }),
      { numRuns: 500 },
    );
  });
});
