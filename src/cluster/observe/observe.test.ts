// What is read of Kubernetes for one decision, of which clusters, and what is forgotten of the others. Where no cache has
// a pod, it is asked for by name.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { MemberStatus } from "../../etcd/member.ts";
import { ApiError } from "../../kube/client/errors.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import { TransportError } from "../../transport/errors.ts";
import { RefusedUpkeep } from "../act/refused-upkeep.ts";
import { TakenAway } from "../act/taken-away.ts";
import type { ClusterAction } from "../plan/actions.ts";
import { sampleCluster, sampleId, sampleNow } from "../testing/sample-world.ts";
import { Logins } from "./login.ts";
import { observe } from "./observe.ts";
import { Progress } from "./progress.ts";
import { Wire } from "./wire.ts";
import type { ClusterWorld } from "./world.ts";

const key = { namespace: "shop", name: "demo" };
const cluster = sampleCluster({ status: { voters: ["demo-a", "demo-b", "demo-c"] } });

interface Known {
  readonly cached?: readonly Pod[];
  readonly members?: object;
}

function observer(
  stored: EtcdCluster | undefined,
  pods: readonly Pod[] | Error = [],
  isOurs = true,
  { cached = [], members = {} }: Known = {},
) {
  const empty = { get: () => undefined, ownedBy: () => cached, byIndex: () => [] };
  const caches = {
    clusters: { get: () => stored },
    pods: empty,
    claims: empty,
    services: empty,
    budgets: empty,
    nodes: undefined,
    secrets: empty,
    given: { read: () => Promise.resolve(undefined) },
  };
  const context = {
    members,
    caches: () => caches,
    logins: new Logins(() => 0),
    progress: new Progress(),
    refusedUpkeep: new RefusedUpkeep(),
    takenAway: new TakenAway(),
    wire: new Wire(() => Promise.resolve(undefined)),
    metrics: { forget: () => undefined },
    now: () => sampleNow,
    isOurs: () => isOurs,
  };
  const get = (_kind: unknown, { name }: { name: string }): Promise<Pod> => {
    if (pods instanceof Error) return Promise.reject(pods);
    const found = pods.find(({ metadata }) => metadata?.name === name);
    return found === undefined ? Promise.reject(new ApiError(404, "NotFound", "")) : Promise.resolve(found);
  };
  const { signal } = new AbortController();
  const observed = async (): Promise<ClusterWorld | undefined> => {
    const seen = await observe(key, { api: { get }, signal } as never, context as never);
    return seen.t === "world" ? seen.world : undefined;
  };
  return { ...context, observed };
}

test("of pods that no cache has, only those that are the cluster's and have lost their labels are taken for members", async () => {
  const owned = { ownerReferences: [ownerReference(EtcdCluster, cluster)] };
  const pods: Pod[] = [
    { metadata: { ...key, name: "demo-a", ...owned } },
    { metadata: { ...key, name: "demo-b" } },
    { metadata: { ...key, name: "demo-c", ...owned, labels: { app: "etcd" } } },
  ];
  const world = await observer(cluster, pods).observed();
  assert.deepEqual(
    world?.pods.map(({ name }) => name),
    ["demo-a"],
  );
});

test("etcd is asked once, unless a pod is found that no cache has", async () => {
  const owned = { ownerReferences: [ownerReference(EtcdCluster, cluster)] };
  const pod = (name: string): Pod => ({
    metadata: { ...key, name, ...owned },
    spec: { containers: [], nodeName: "n" },
    status: { phase: "Running", podIP: "10.0.0.1" },
  });
  const looks = async (strays: readonly Pod[]): Promise<number> => {
    let asked = 0;
    const silence = new TransportError("broken", "a test");
    const status = (): Promise<never> => ((asked += 1), Promise.reject(silence));
    const member = { status, health: () => Promise.resolve({ t: "unreachable" }) };
    await observer(cluster, strays, true, { cached: [pod("demo-a")], members: { at: () => member } }).observed();
    return asked;
  };
  assert.equal(await looks([]), 1);
  assert.equal(await looks([pod("demo-b")]), 3);
});

test("a pod that cannot be asked for is not taken for one that is gone", async () => {
  const down = new ApiError(500, "InternalError", "");
  await assert.rejects(observer(cluster, down).observed(), down);
});

describe("a cluster is not looked at, and what was known of it is forgotten,", () => {
  const a = sampleId("a");
  const at = (raftIndex: number) => [{ memberId: a, raftTerm: 2, raftIndex } as MemberStatus];
  const service: ClusterAction = { do: "applyService", service: "client" };
  const deleted = { ...cluster, metadata: { ...cluster.metadata, deletionTimestamp: "2026-01-31T12:00:00Z" } };
  for (const [when, stored, isOurs] of [
    ["when it is gone", undefined, true],
    ["when it is going", deleted, true],
    ["when it is another operator's", cluster, false],
  ] as const)
    test(when, async () => {
      const { progress, refusedUpkeep, observed } = observer(stored, [], isOurs);
      progress.note(cluster, at(1000), [{ id: a }]);
      refusedUpkeep.note("shop/demo", [service], [{ t: "refused", at: service, because: "quota" }], 0);
      assert.equal(await observed(), undefined);
      assert.deepEqual([...progress.note(cluster, at(4), [{ id: a }])], []);
      assert.equal(refusedUpkeep.recent("shop/demo", [service], 1), undefined);
    });
});
