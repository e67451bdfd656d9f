import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { silent } from "../kube/process/log.ts";
import { RuntimeObserver } from "../kube/process/runtime-observer.ts";
import { SimulatedClock } from "../kube/testing/simulated-clock.ts";
import { FakeApi } from "../kube/testing/fake-api/fake-api.ts";
import { Node, Pod, PodDisruptionBudget, Secret, Service } from "../kube/objects/kinds.ts";
import { ownerReference } from "../kube/objects/owners.ts";
import { imageCheckLabel } from "./objects/image-check.ts";
import { clusterController } from "./controller.ts";
import { Stage } from "./testing/stage.ts";

test("a cluster is looked at when the readiness of a member's node changes, and not at any other news of it", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.createWhole(1);
  const [pod] = await stage.pods();
  const node = { namespace: "", name: pod?.spec?.nodeName ?? "" };
  const looks = (): number => stage.metric("etcd_operator_cluster_reconcile_duration_count");
  const write = (status: string, heartbeat: string) => {
    const conditions = [{ type: "Ready", status, lastHeartbeatTime: heartbeat }];
    return stage.api.mergePatch(Node, node, { status: { conditions } }, { subresource: "status" });
  };
  const isLookedAtAfter = async (news: Promise<unknown>): Promise<boolean> => {
    const before = looks();
    await news;
    await stage.clock.advance(1000);
    return looks() > before;
  };
  await write("True", "2026-01-01T00:00:00Z");
  // It is reconciled now and then; after that nothing disturbs for a while.
  const before = looks();
  await stage.until("it is looked at", () => looks() > before + 1);
  assert.equal(await isLookedAtAfter(write("True", "2026-01-01T00:00:10Z")), false);
  assert.equal(await isLookedAtAfter(write("Unknown", "2026-01-01T00:00:10Z")), true);
  assert.equal(await isLookedAtAfter(stage.api.delete(Node, node)), true);
});

test("clusters are counted by the operator that leads, and by none that stands by", async () => {
  const clock = new SimulatedClock();
  const kinds = [EtcdCluster, Pod, Service, PodDisruptionBudget, Node, Secret].map((kind) => ({ kind }));
  const api = new FakeApi({ kinds, clock });
  const observer = new RuntimeObserver(silent);
  const { controller, informers } = clusterController({
    api,
    scope: { t: "namespaces", names: ["n"] },
    members: { at: () => assert.fail("there is no member") },
    events: { record: () => undefined },
    observer,
    clock,
  });
  const sample = (name: string): string | undefined =>
    new RegExp(`^etcd_operator_controller_${name} (\\d+)$`, "m").exec(observer.metrics.registry.text())?.[1];
  const end = new AbortController();
  const running = informers.map((informer) => informer.run(end.signal));
  const make = (name: string) => api.create(EtcdCluster, { metadata: { namespace: "n", name }, spec: { size: 1 } });

  await make("before");
  await clock.advance(1000);
  assert.deepEqual([sample("clusters"), sample("clusters_created")], ["0", "0"]);
  running.push(controller.run(api, end.signal));
  await make("after");
  await clock.advance(1000);
  assert.deepEqual([sample("clusters"), sample("clusters_created")], ["2", "1"]);

  const key = { namespace: "n", name: "after" };
  await api.mergePatch(EtcdCluster, key, { metadata: { labels: { team: "a" } } });
  await clock.advance(1000);
  assert.equal(sample("clusters_modified"), "0");
  await api.mergePatch(EtcdCluster, key, { spec: { paused: true } });
  await clock.advance(1000);
  assert.equal(sample("clusters_modified"), "1");
  await api.delete(EtcdCluster, key);
  const annotations = { "etcd.database.coreos.com/scope": "clusterwide" };
  await api.create(EtcdCluster, { metadata: { namespace: "n", name: "another", annotations }, spec: { size: 1 } });
  await clock.advance(1000);
  assert.deepEqual(["clusters", "clusters_created", "clusters_modified", "clusters_deleted"].map(sample), [
    "1",
    "1",
    "1",
    "1",
  ]);
  end.abort();
  await Promise.all(running);
});

test("an operator that no longer leads says nothing of clusters: another one knows better", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.createWhole(1);
  const { registry } = stage;
  const said = (): readonly string[] => registry.text().match(/^etcd_operator_cluster_\w+\{.*etcd_cluster=.*/gm) ?? [];
  assert.ok(said().some((line) => line.startsWith("etcd_operator_cluster_members_healthy{")));
  await stage.stopOperator();
  assert.deepEqual(said(), []);
});

test("the pods of the managed clusters are those of their members: none that tries an image, and nobody else's", async () => {
  const clock = new SimulatedClock();
  const api = new FakeApi({
    kinds: [EtcdCluster, Pod, Service, PodDisruptionBudget, Node].map((kind) => ({ kind })),
    clock,
  });
  const { informers, pods } = clusterController({
    api,
    scope: { t: "namespaces", names: ["n"] },
    members: { at: () => assert.fail("nobody asks") },
    events: { record: () => undefined },
    observer: new RuntimeObserver(silent),
    clock,
  });
  const annotated = { annotations: { "etcd.database.coreos.com/scope": "clusterwide" } };
  for (const [name, more] of [
    ["ours", {}],
    ["theirs", annotated],
  ] as const) {
    const cluster = await api.create(EtcdCluster, { metadata: { namespace: "n", name, ...more }, spec: { size: 1 } });
    const ownerReferences = [ownerReference(EtcdCluster, cluster)];
    for (const [suffix, label] of [
      ["member", "etcd_cluster"],
      ["check", imageCheckLabel],
    ] as const) {
      const labels = { app: "etcd", [label]: name };
      const metadata = { namespace: "n", name: `${name}-${suffix}`, labels, ownerReferences };
      await api.create(Pod, { metadata, spec: { containers: [] } });
    }
  }
  const end = new AbortController();
  const running = informers.map((informer) => informer.run(end.signal));
  await clock.advance(1000);
  assert.deepEqual(
    pods().map(({ metadata }) => metadata?.name),
    ["ours-member"],
  );
  end.abort();
  await Promise.all(running);
});
