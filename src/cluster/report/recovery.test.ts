// What a person can do about a cluster that is lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { problemsOf } from "../../api/etcd-restore/problems.ts";
import { assess } from "../assess/assess.ts";
import { type SampleWorld, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { conclusionsOf } from "./conditions.ts";

const nothing = { did: [], decision: { actions: [], because: "a test" }, obstacle: undefined, passed: [] };

function saidOf(sample: SampleWorld): string {
  const conclusions = conclusionsOf(assess(sampleWorld(sample), sampleNow), nothing);
  return conclusions.find(({ type }) => type === "Available")?.message ?? "";
}

const lost: SampleWorld = { etcd: "nobody", status: { voters: ["demo-a"] } };
const backup = { by: "nightly", path: "bucket/demo_v9_2026-01-31-03:00:00", takenAt: "2026-01-31T03:00:00Z" };

test("a cluster whose data is lost names the newest backup and the command that restores it", () => {
  const message = saidOf({ ...lost, change: { backup } });
  assert.match(message, /The newest backup is bucket\/demo_v9_2026-01-31-03:00:00 of 2026-01-31T03:00:00Z/);
  const manifest = JSON.parse(/echo '(.*)' \| kubectl apply -f -/.exec(message)?.[1] ?? "{}") as EtcdRestore;
  assert.equal(manifest.metadata?.name, "demo");
  assert.deepEqual(manifest.spec, { etcdCluster: { name: "demo" }, backup: { name: "nightly" } });
  assert.deepEqual(problemsOf(manifest), [], "it can be applied as it stands");
});

test("a cluster whose data is lost and that has no backup says so", () => {
  assert.match(saidOf(lost), /No EtcdBackup of this cluster has taken a backup/);
});

test("a cluster without a quorum that may come back says that first, and the backup second", () => {
  const silent = { silent: true } as const;
  const members = [{ letter: "a" }, { letter: "b", ...silent }, { letter: "c", ...silent }];
  const message = saidOf({ etcd: "noQuorum", members, change: { backup } });
  assert.match(message, /continues by itself.* If they never will: The newest backup is/);
});
