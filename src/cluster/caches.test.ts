import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { clusterCaches } from "./caches.ts";
import { ApiError } from "../kube/client/errors.ts";
import { Node, PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "../kube/objects/kinds.ts";
import { logger } from "../kube/process/log.ts";
import { RuntimeObserver } from "../kube/process/runtime-observer.ts";
import { FakeApi } from "../kube/testing/fake-api/fake-api.ts";
import { SimulatedClock } from "../kube/testing/simulated-clock.ts";

const forbidden = (): ApiError => new ApiError(403, "Forbidden", "nodes is forbidden");
const hour = 3_600_000;

async function running() {
  const clock = new SimulatedClock();
  const claims = PersistentVolumeClaim;
  const kinds = [EtcdBackup, EtcdCluster, Pod, claims, Service, PodDisruptionBudget, Node, Secret].map((kind) => ({
    kind,
  }));
  const api = new FakeApi({ kinds, clock });
  const lines: { level: string; message: string; stack?: string }[] = [];
  const observer = new RuntimeObserver(logger({ write: (line) => lines.push(JSON.parse(line)) }));
  const caches = clusterCaches({ api, observer, scope: { t: "namespaces", names: ["n"] }, clock });
  await api.create(Node, { metadata: { name: "a" } });
  const end = new AbortController();
  const start = (): Promise<unknown> => Promise.all(caches.all.map((informer) => informer.run(end.signal)));
  const asked = (): number => api.requests.filter(({ kind }) => kind === "Node").length;
  return { clock, api, lines, caches, end, start, asked };
}

test("permissions to see nodes that come after the start are used without a restart", async () => {
  const { clock, api, lines, caches, end, start } = await running();
  const granted = api.faults.fail({ kind: Node }, forbidden, { times: Number.POSITIVE_INFINITY });
  const ended = start();
  await clock.advance(1000);
  assert.equal(caches.of("n").nodes, undefined);
  granted();
  await clock.advance(5000);
  assert.equal(caches.of("n").nodes?.size, 1);
  assert.deepEqual(
    lines.map(({ level }) => level),
    ["warn", "info"],
  );
  assert.match(lines[0]?.message ?? "", /^nodes may not be listed or watched, so .*: grant list and watch on nodes\.$/);
  end.abort();
  await ended;
});

test("an operator without the permission to see nodes asks for it seldom, and warns once", async () => {
  const { clock, api, lines, caches, end, start, asked } = await running();
  api.faults.fail({ kind: Node }, forbidden, { times: Number.POSITIVE_INFINITY });
  const ended = start();
  await clock.advance(hour);
  assert.equal(lines.length, 1);
  assert.ok(!JSON.stringify(lines).includes("stack"));
  const before = asked();
  await clock.advance(hour);
  assert.ok(asked() - before <= 60, `${asked() - before} requests an hour`);
  assert.equal(caches.of("n").nodes, undefined);
  end.abort();
  await ended;
});

test("when the permission to see nodes is taken away, nodes are unknown and not as they were", async () => {
  const { clock, api, caches, end, start } = await running();
  const ended = start();
  await clock.advance(1000);
  assert.equal(caches.of("n").nodes?.size, 1);
  const granted = api.faults.fail({ kind: Node }, forbidden, { times: Number.POSITIVE_INFINITY });
  api.faults.cutWatches(undefined, { kind: Node });
  await clock.advance(10_000);
  assert.equal(caches.of("n").nodes, undefined);
  granted();
  await api.create(Node, { metadata: { name: "b" } });
  await clock.advance(130_000);
  assert.equal(caches.of("n").nodes?.size, 2);
  end.abort();
  await ended;
});
