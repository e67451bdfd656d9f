import assert from "node:assert/strict";
import { test } from "node:test";
import { type EtcdClusterSpec, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { parseSettings, settingsOf } from "./settings.ts";

const settings = (spec: Partial<EtcdClusterSpec>): string =>
  settingsOf(
    withDefaults({ metadata: { name: "c", namespace: "ns" }, spec: { size: 3, version: "3.6.16", ...spec } }).spec,
  );

test("what makes another pod makes other settings", () => {
  const all = [
    {},
    { pod: { nodeSelector: { disk: "fast" } } },
    { pod: { etcdEnv: [{ name: "GOGC", value: "50" }] } },
    { etcd: { snapshotCount: 5000 } },
  ].map(settings);
  assert.equal(new Set(all).size, all.length);
});

test("what a pod was made from can be read back, also by a release that knows more", () => {
  const text = settings({
    pod: { nodeSelector: { disk: "fast" }, ClusterDomain: "example" },
    etcd: { snapshotCount: 7 },
  });
  const read = parseSettings(text);
  assert.equal(settings(read ?? {}), text);
  assert.deepEqual(read, {
    pod: { nodeSelector: { disk: "fast" }, ClusterDomain: ".example" },
    etcd: { snapshotCount: 7 },
  });
  // As older releases wrote it: a hash.
  assert.equal(parseSettings("0123456789abcdef"), undefined);
  assert.equal(parseSettings("42"), undefined);
});

test("version and image are not settings: they are seen in the pod itself", () => {
  for (const same of [{ version: "3.6.15" }, { repository: "example.com/etcd" }, { image: "example.com/etcd:mine" }])
    assert.equal(settings(same), settings({}), JSON.stringify(same));
});

test("size, pause, failover and defaults that are written down make no other pod", () => {
  for (const same of [
    { size: 5 },
    { paused: true },
    { failover: { crashLoopAfterSeconds: 9 } },
    { pod: {} },
    { version: "v3.6.16" },
  ])
    assert.equal(settings(same), settings({}), JSON.stringify(same));
});
