// What is wrong with an EtcdBackup, in sentences; and the examples, in which nothing is.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { EtcdBackup } from "./etcd-backup.ts";
import { problemsOf } from "./problems.ts";
import { oldManifests } from "./testing/old-manifests.ts";

const folder = path.resolve(import.meta.dirname, "../../../example/etcd-backup-operator");

const sound = {
  etcdEndpoints: ["http://demo-client:2379"],
  storageType: "S3",
  s3: { path: "bucket/etcd", awsSecret: "aws" },
};
const s3 = (where: string) => ({ s3: { path: where, awsSecret: "aws" } });
const backup = (spec: object, name = "nightly") => ({ metadata: { name }, spec }) as EtcdBackup;

const cases: [what: string, spec: object, says: RegExp][] = [
  ["names no etcd", { etcdEndpoints: [] }, /spec\.etcdEndpoints must not be empty/],
  [
    "names etcd twice",
    { clusterRef: { name: "demo" } },
    /spec\.etcdEndpoints and spec\.clusterRef are mutually exclusive/,
  ],
  ["has an endpoint that is not one", { etcdEndpoints: ["demo:2379"] }, /must contain client URLs of etcd/],
  ["does not say where", { s3: undefined }, /spec\.storageType is S3, but spec\.s3 is missing/],
  ["has a path without a key", s3("bucket"), /spec\.s3\.path must be the bucket, a slash and the key/],
  ["has a scratch volume of no size", { worker: { scratchSize: "much" } }, /spec\.worker\.scratchSize must be a size/],
  ["has a scratch volume of nothing", { worker: { scratchSize: "0Gi" } }, /spec\.worker\.scratchSize must be a size/],
  ["has a path that leaves its folder", s3("bucket/../x"), /spec\.s3\.path must not contain \. or \.\./],
  ["has an interval below zero", { backupPolicy: { backupIntervalInSecond: -1 } }, /must be at least 0/],
  [
    "has both an interval and a schedule",
    { backupPolicy: { backupIntervalInSecond: 60, schedule: "@daily" } },
    /backupIntervalInSecond and spec\.backupPolicy\.schedule are mutually exclusive/,
  ],
  ["has a schedule that is not one", { backupPolicy: { schedule: "daily" } }, /which is not a Cron schedule/],
  ["has a schedule with seconds", { backupPolicy: { schedule: "0 0 3 * * *" } }, /which is not a Cron schedule/],
  ["has a schedule that never comes", { backupPolicy: { schedule: "0 3 30 2 *" } }, /which never occurs/],
  [
    "has a time zone that is not one",
    { backupPolicy: { schedule: "@daily", timeZone: "Berlin" } },
    /which is not a time zone/,
  ],
  ["has a time zone without a schedule", { backupPolicy: { timeZone: "UTC" } }, /has no effect without/],
];

describe("an EtcdBackup is refused with a sentence when it", () => {
  for (const [what, spec, says] of cases)
    test(what, () => assert.match(problemsOf(backup({ ...sound, ...spec })).join(" "), says));

  test("has a name that is too long for its pods", () => {
    assert.match(problemsOf(backup(sound, "n".repeat(51))).join(" "), /must not be longer than 50/);
  });
});

test("nothing is wrong with a sound one", () => {
  assert.deepEqual(problemsOf(backup(sound)), []);
});

for (const file of readdirSync(folder))
  test(`nothing is wrong with what ${file} has of them`, () => {
    const documents = parseAllDocuments(readFileSync(path.join(folder, file), "utf8")).map(
      (document) => document.toJS() as { kind: string; data?: Record<string, string> },
    );
    const inside = documents.flatMap(({ data = {} }) => Object.values(data)).flatMap((text) => parseAllDocuments(text));
    const all = [...documents, ...inside.map((document) => document.toJS() as { kind: string })];
    for (const object of all.filter(({ kind }) => kind === "EtcdBackup"))
      assert.deepEqual(problemsOf(object as unknown as EtcdBackup), []);
  });

for (const { what, object } of oldManifests)
  test(`nothing is wrong with a manifest of etcd-operator 0.9: ${what}`, () => {
    assert.deepEqual(problemsOf(object as unknown as EtcdBackup), []);
  });
