// The states of members in the demo, and the layout of their table.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EtcdCluster } from "../src/api/etcd-cluster/etcd-cluster.ts";
import type { Pod } from "../src/kube/objects/kinds.ts";
import { memberRows, tableLines } from "./table.ts";

const cluster: EtcdCluster = { metadata: { name: "c" }, spec: { size: 3 }, status: { leader: "c-lead" } };

function pod(name: string, status: Pod["status"] = {}, more: { node?: string; going?: boolean } = {}): Pod {
  return {
    metadata: {
      name,
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...(more.going && { deletionTimestamp: "2026-01-02" }),
    },
    spec: { containers: [], nodeName: more.node ?? "n1" },
    status,
  };
}
const serving: Pod["status"] = { conditions: [{ type: "Ready", status: "True" }] };
const running = {
  containerStatuses: [{ name: "etcd", image: "", imageID: "", ready: false, restartCount: 0, state: { running: {} } }],
};

test("the state of a member follows its pod, and the status names the leader", () => {
  const states = (...pods: Pod[]): string[] => memberRows(cluster, pods).map(({ state }) => state);
  assert.deepEqual(states(pod("c-a", {}, { node: "" })), ["waiting"]);
  assert.deepEqual(states(pod("c-a")), ["starting"]);
  assert.deepEqual(states(pod("c-a", running)), ["joining"]);
  assert.deepEqual(states(pod("c-a", serving)), ["member"]);
  assert.deepEqual(states(pod("c-lead", serving)), ["leader"]);
  assert.deepEqual(states(pod("c-lead", serving, { going: true })), ["stopping"]);
});

test("voters of a cluster that is ready serve, even if the kubelet has yet to probe them", () => {
  const lastTransitionTime = "2026-01-31T12:00:00Z";
  const withReady = (status: "True" | "False"): EtcdCluster => ({
    ...cluster,
    status: { voters: ["c-a"], conditions: [{ type: "Ready", status, reason: "", lastTransitionTime }] },
  });
  const state = (one: EtcdCluster, name: string): string | undefined => memberRows(one, [pod(name, running)])[0]?.state;
  assert.deepEqual(
    [state(withReady("True"), "c-a"), state(withReady("True"), "c-b"), state(withReady("False"), "c-a")],
    ["member", "joining", "joining"],
  );
});

test("a member without a pod stays in the table as gone", () => {
  const before = memberRows(cluster, [pod("c-a", serving), pod("c-b", serving)]);
  const after = memberRows(cluster, [pod("c-b", serving), pod("c-new")], before);
  assert.deepEqual(
    after.map(({ name, state }) => `${name} ${state}`),
    ["c-a gone", "c-b member", "c-new starting"],
  );
});

test("the version is that of the image that runs, else of the one that is to run", () => {
  const version = (runs: string, wanted: string): string | undefined => {
    const one = pod("c-a", {
      containerStatuses: [{ name: "etcd", image: runs, imageID: "", ready: true, restartCount: 0 }],
    });
    return memberRows(cluster, [{ ...one, spec: { containers: [{ name: "etcd", image: wanted }] } }])[0]?.version;
  };
  // An image is changed in place: the spec is ahead of what runs.
  assert.equal(version("quay.io/coreos/etcd:v3.6.16", "quay.io/coreos/etcd:v3.7.3"), "3.6.16");
  assert.equal(version("sha256:0123456789abcdef", "registry:5000/etcd:v3.7.3"), "3.7.3");
  assert.equal(version("", "registry:5000/etcd"), "");
});

test("columns are as wide as their widest cell", () => {
  const rows = memberRows(cluster, [pod("c-lead", serving), pod("c-longername", serving, { node: "node-17" })]);
  assert.deepEqual(tableLines(rows), [
    "MEMBER        VERSION  STATE   NODE",
    "c-lead        -        leader  n1",
    "c-longername  -        member  node-17",
  ]);
});
