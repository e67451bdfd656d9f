// What is wrong with an EtcdRestore, in sentences; and the manifests of etcd-operator 0.9, in which nothing is.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EtcdRestore } from "./etcd-restore.ts";
import { problemsOf } from "./problems.ts";
import { oldManifests, restoreManifest } from "./testing/old-manifests.ts";

const sound = restoreManifest.spec;
const restore = (spec: object, name = "demo") => ({ metadata: { name }, spec }) as EtcdRestore;

const cases: [what: string, spec: object, says: RegExp][] = [
  ["does not say where the backup is", { backupStorageType: undefined }, /spec\.backupStorageType is missing/],
  ["says it twice", { backup: { name: "nightly" } }, /spec\.backup and spec\.backupStorageType are mutually exclusive/],
  [
    "names a store and not the place in it",
    { s3: undefined },
    /spec\.backupStorageType is S3, but spec\.s3 is missing/,
  ],
  ["has a path without a key", { s3: { path: "bucket" } }, /spec\.s3\.path must be the bucket, a slash and the key/],
  ["has a scratch volume of no size", { worker: { scratchSize: "-5Gi" } }, /spec\.worker\.scratchSize must be a size/],
  ["has a time that is not one", { before: "yesterday" }, /spec\.before must be a time/],
  ["has a time that does not exist", { before: "2026-13-31T12:00:00Z" }, /spec\.before .* is not a time/],
];

describe("an EtcdRestore is refused with a sentence when it", () => {
  for (const [what, spec, says] of cases)
    test(what, () => assert.match(problemsOf(restore({ ...sound, ...spec })).join(" "), says));

  test("has a name that is too long for its pods", () => {
    assert.match(problemsOf(restore(sound, "n".repeat(53))).join(" "), /must not be longer than 52/);
  });
});

for (const { what, object } of oldManifests)
  test(`nothing is wrong with a manifest of etcd-operator 0.9: ${what}`, () => {
    assert.deepEqual(problemsOf(object as unknown as EtcdRestore), []);
  });
