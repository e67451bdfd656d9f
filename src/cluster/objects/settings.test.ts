import assert from "node:assert/strict";
import { test } from "node:test";
import { type EtcdClusterSpec, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { holdsValues, needsOtherPod, parseSettings, settingsOf, withValues } from "./settings.ts";

const ref = { secretKeyRef: { name: "s", key: "k" } };
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

test("values of variables are not in it: a digest is, which stays the same from release to release", () => {
  const secret = {
    pod: {
      etcdEnv: [
        { name: "TOKEN", value: "hunter2" },
        { name: "REF", valueFrom: ref },
      ],
    },
  };
  const text = settings(secret);
  assert.equal(
    text,
    '{"pod":{"etcdEnv":[{"name":"TOKEN","valueDigest":"7074df074eb5a7042d1469228409b78c"},{"name":"REF","valueFrom":{"secretKeyRef":{"key":"k","name":"s"}}}]}}',
  );
  assert.equal(settingsOf(parseSettings(text) ?? {}), text, "read and written again");
  const other = {
    pod: {
      etcdEnv: [
        { name: "TOKEN", value: "hunter3" },
        { name: "REF", valueFrom: ref },
      ],
    },
  };
  assert.equal(needsOtherPod(text, other), true);
  // As releases before wrote it.
  const plain = JSON.stringify(secret);
  assert.equal(needsOtherPod(plain, secret), false);
  assert.equal(needsOtherPod(plain, other), true);
  assert.equal(settingsOf(parseSettings(plain) ?? {}), text);
  assert.deepEqual(
    [plain, text].map((one) => holdsValues(parseSettings(one) ?? {})),
    [true, false],
  );
});

test("values are found again by their digests, and not taken from others of their name", () => {
  const etcdEnv = [
    { name: "TOKEN", value: "hunter2" },
    { name: "REF", valueFrom: ref },
  ];
  const read = parseSettings(settings({ pod: { etcdEnv } })) ?? {};
  assert.deepEqual(withValues(read, [{ name: "TOKEN", value: "hunter3" }, ...etcdEnv]), { pod: { etcdEnv } });
  assert.equal(withValues(read, [{ name: "TOKEN", value: "hunter3" }]), undefined);
  assert.deepEqual(withValues({}, []), {});
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
