import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { silent } from "../kube/process/log.ts";
import { RuntimeObserver } from "../kube/process/runtime-observer.ts";
import { SimulatedClock } from "../kube/testing/simulated-clock.ts";
import { FakeApi } from "../kube/testing/fake-api/fake-api.ts";
import { Node, Pod, PodDisruptionBudget, Service } from "../kube/objects/kinds.ts";
import { clusterController } from "./controller.ts";

test("clusters are counted by the operator that leads, and by none that stands by", async () => {
  const clock = new SimulatedClock();
  const kinds = [EtcdCluster, Pod, Service, PodDisruptionBudget, Node].map((kind) => ({ kind }));
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
