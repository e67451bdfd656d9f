// What is done to the objects of Kubernetes, and to nobody else's. The API server here holds one object of each name.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { ApiError } from "../../kube/client/errors.ts";
import type { Pod, Service } from "../../kube/objects/kinds.ts";
import type { Key, Kind, KubeObject } from "../../kube/objects/objects.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import { assess } from "../assess/assess.ts";
import type { ClusterAction } from "../plan/actions.ts";
import { three } from "../testing/plan-table.ts";
import { sampleCluster, sampleClusterId, sampleName, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { carryOut } from "./actions.ts";
import { executionOf } from "./execution.ts";
import { TakenAway } from "./taken-away.ts";
import { NotYet, Refused } from "../../controllers/obstacle.ts";
import { judged } from "../testing/judged.ts";

interface There {
  readonly cluster?: EtcdCluster;
  readonly object?: KubeObject;
  /** The cache shows the object, too. */
  readonly cached?: boolean;
  readonly spec?: object;
}

/** The writes that the action makes, and how it ends if not well. */
async function writesOf(action: ClusterAction, there: There): Promise<unknown[]> {
  const { object, cached = false, spec = {} } = there;
  const writes: unknown[] = [];
  const api = {
    get: (kind: Kind<KubeObject>) =>
      Promise.resolve(kind.kind === EtcdCluster.kind ? (there.cluster ?? sampleCluster({})) : object),
    list: () => Promise.resolve({ items: [] }),
    create: (_kind: unknown, made: KubeObject) => {
      if (object !== undefined) return Promise.reject(new ApiError(409, "AlreadyExists", ""));
      writes.push("create");
      return Promise.resolve(made);
    },
    apply: (_kind: unknown, _object: unknown, { force }: { force: boolean }) =>
      Promise.resolve(writes.push(force ? "apply by force" : "apply")),
    delete: (_kind: unknown, { name }: Key, options: object) => Promise.resolve(writes.push(`delete ${name}`, options)),
    mergePatch: (
      _kind: unknown,
      { name }: Key,
      { status }: { status: object },
      { subresource }: { subresource: string },
    ) => Promise.resolve(writes.push(`patch ${subresource} of ${name}`, status)),
    replace: (_kind: unknown, { spec: after }: Pod) =>
      Promise.resolve(writes.push(after?.containers.map(({ resources }) => resources?.limits?.["memory"]))),
  };
  const store = { get: () => (cached ? object : undefined) };
  const context = {
    caches: () => ({ services: store, budgets: store }),
    takenAway: new TakenAway(),
    now: () => sampleNow,
  };
  const assessment = assess(sampleWorld({ members: three, spec }), sampleNow);
  try {
    await carryOut(action, executionOf(assessment, { api } as never, context as never));
  } catch (error) {
    if (!(error instanceof NotYet || error instanceof Refused)) throw error;
    writes.push(error.name);
  }
  return writes;
}

const cluster = sampleCluster({});
const ownedBy = (metadata: object): Service => ({
  metadata: {
    name: "demo",
    ownerReferences: [ownerReference(EtcdCluster, { ...cluster, metadata: { ...cluster.metadata, ...metadata } })],
  },
});

describe("a Service", () => {
  const table: [string, There, string[]][] = [
    ["that is missing is made", {}, ["create"]],
    [
      "that is the cluster's is set right, whoever changed it",
      { object: ownedBy({}), cached: true },
      ["apply by force"],
    ],
    ["that is the cluster's and in no cache yet is set right, too", { object: ownedBy({}) }, ["apply by force"]],
    ["that a cluster of the same name left behind is waited for", { object: ownedBy({ uid: "before" }) }, ["NotYet"]],
    ["of another cluster is not taken over", { object: ownedBy({ name: "another", uid: "another" }) }, ["Refused"]],
    ["of a person is not taken over", { object: { metadata: { name: "demo" } }, cached: true }, ["Refused"]],
  ];
  for (const [what, there, wanted] of table)
    test(what, async () => assert.deepEqual(await writesOf({ do: "applyService", service: "peer" }, there), wanted));
});

describe("resources are changed", () => {
  const pod = (uid: string): Pod => {
    const resources = { limits: { memory: "8Mi" }, requests: { memory: "8Mi" } };
    const containers = ["etcd", "sidecar"].map((name) => ({ name, resources }));
    return { metadata: { name: "demo-a", uid }, spec: { containers } };
  };
  const spec = { pod: { resources: { limits: { memory: "256Mi" } } } };
  const action: ClusterAction = { do: "resizePod", member: sampleName("a"), uid: "seen" };
  test("of etcd only", async () => {
    assert.deepEqual(await writesOf(action, { object: pod("seen"), spec }), [["256Mi", "8Mi"]]);
  });
  test("not of another pod than was looked at", async () => {
    assert.deepEqual(await writesOf(action, { object: pod("another"), spec }), ["NotYet"]);
  });
});

describe("while nobody knows of a cluster that has served", () => {
  const fresh = sampleCluster({ unrecorded: true });
  const seed: ClusterAction = { do: "createSeed", member: sampleName("a") };
  const deletion = judged({ do: "deletePod", member: sampleName("a"), uid: "u", because: "a test", force: false });
  const failed = { ...deletion, unless: "served" } as const;
  const object: Pod = { metadata: { name: "demo-a", uid: "u" } };
  const readyOnce = (phase: string): Pod => ({
    ...object,
    status: {
      phase,
      conditions: [
        { type: "Initialized", status: "True", lastTransitionTime: "2026-01-31T12:00:00Z" },
        { type: "Ready", status: "False", lastTransitionTime: "2026-01-31T12:05:00Z" },
      ],
    },
  });
  const table: [string, ClusterAction, There, unknown[]][] = [
    ["a seed is made", seed, { cluster: fresh }, ["create"]],
    ["a seed is not made for one that has an id by now", seed, { cluster }, ["NotYet"]],
    [
      "a seed is not made for another of the same name",
      seed,
      { cluster: { ...fresh, metadata: { uid: "another" } } },
      ["NotYet"],
    ],
    ["a failed seed is deleted", failed, { cluster: fresh, object }, ["delete demo-a", { uid: "u" }]],
    ["a failed seed is not deleted where there is an id by now", failed, { cluster, object }, ["NotYet"]],
    [
      "a failed seed that was ready is not deleted while it may be written to",
      failed,
      { cluster: fresh, object: readyOnce("Running") },
      ["NotYet"],
    ],
    [
      "a failed seed that was ready and has ended is deleted: nobody can be sent to it any more",
      failed,
      { cluster: fresh, object: readyOnce("Failed") },
      ["delete demo-a", { uid: "u" }],
    ],
    ["any other pod is deleted whatever is known", deletion, { cluster }, ["delete demo-a", { uid: "u" }]],
    [
      "and by force where no kubelet would answer",
      { ...deletion, force: true },
      { cluster },
      ["delete demo-a", { uid: "u", gracePeriodSeconds: 0 }],
    ],
    [
      "and soon where its end is not waited for",
      { ...deletion, soon: true },
      { cluster },
      ["delete demo-a", { uid: "u", gracePeriodSeconds: 1 }],
    ],
  ];
  for (const [what, action, there, wanted] of table)
    test(what, async () => assert.deepEqual(await writesOf(action, there), wanted));
});

test("what must not be forgotten is written into the status at once", async () => {
  const voters = ["demo-a", "demo-b", "demo-c"];
  const table: [ClusterAction, object][] = [
    [
      { do: "recordClusterId", clusterId: sampleClusterId },
      { clusterId: sampleClusterId, phase: "Running", voters },
    ],
    [
      { do: "recordClusterId", clusterId: sampleClusterId, logVersion: "3.6" },
      { clusterId: sampleClusterId, phase: "Running", voters, raftLogVersion: "3.6" },
    ],
    [{ do: "recordLogVersion", version: "3.6" }, { raftLogVersion: "3.6" }],
  ];
  for (const [action, status] of table) assert.deepEqual(await writesOf(action, {}), ["patch status of demo", status]);
});
