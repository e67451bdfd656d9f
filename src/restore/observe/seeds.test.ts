// Which pods are first members of a restored cluster, and what their init containers say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import { jobVariable, type Result } from "../../worker/job.ts";
import { restoreContainer } from "../../worker/pod.ts";
import { aCluster, aRestore, facts, failure, restoreUid, seeded } from "../testing/samples.ts";
import { observedSeeds } from "./seeds.ts";

const cluster = aCluster();
const other = { ...cluster, metadata: { ...cluster.metadata, uid: "another" } };

interface Said {
  readonly token?: string;
  readonly job?: object;
  readonly owner?: typeof cluster;
  readonly state?: object;
  readonly restarts?: number;
}

const ended = (result: Result): object => ({ terminated: { exitCode: 0, message: JSON.stringify(result) } });

function pod(name: string, { token = restoreUid, job, owner = cluster, state, restarts = 0 }: Said = {}): Pod {
  const env = [{ name: jobVariable, value: JSON.stringify(job ?? { do: "restore", token }) }];
  const status = { name: restoreContainer, image: "", imageID: "", ready: false, restartCount: restarts };
  return {
    metadata: { name, ownerReferences: [ownerReference(EtcdCluster, owner)] },
    spec: { initContainers: [{ name: restoreContainer, env }], containers: [] },
    ...(state !== undefined && { status: { initContainerStatuses: [{ ...status, ...state }] } }),
  };
}

const seen = (...pods: readonly Pod[]) => observedSeeds(aRestore(), cluster, pods);

test("first members are the cluster's own pods whose data this very EtcdRestore makes, in whatever attempt", () => {
  const found = seen(
    pod("first"),
    pod("again", { token: `${restoreUid}/1` }),
    pod("of-another-cluster", { owner: other }),
    pod("of-another-restore", { token: "another" }),
    pod("of-one-that-begins-alike", { token: `${restoreUid}0` }),
    pod("that-waits-for-its-name", { job: { do: "awaitName", host: "a" } }),
  );
  assert.deepEqual(found, [
    { t: "starting", member: "first" },
    { t: "starting", member: "again" },
  ]);
});

test("what their init containers say counts, also while they are tried again", () => {
  const damaged = failure("damaged", "It is cut off.");
  const kept: Result = { ok: true, did: { do: "restore", restored: false } };
  const checked: Result = { ok: true, did: { do: "delete", deleted: 0, locked: 0 } };
  assert.deepEqual(
    seen(
      pod("made", { state: { state: ended(seeded) } }),
      pod("kept", { state: { state: ended(kept) } }),
      pod("failed", { state: { state: { waiting: {} }, lastState: ended(damaged), restartCount: 2 } }),
      pod("odd", { state: { state: ended(checked) } }),
      pod("running", { state: { state: { running: {} } } }),
    ),
    [
      { t: "made", member: "made", backup: facts },
      { t: "made", member: "kept" },
      { t: "failed", member: "failed", code: "damaged", message: "It is cut off.", times: 3 },
      { t: "starting", member: "odd" },
      { t: "starting", member: "running" },
    ],
  );
});
