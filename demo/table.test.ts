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

test("a member without a pod stays in the table as gone", () => {
  const before = memberRows(cluster, [pod("c-a", serving), pod("c-b", serving)]);
  const after = memberRows(cluster, [pod("c-b", serving), pod("c-new")], before);
  assert.deepEqual(
    after.map(({ name, state }) => `${name} ${state}`),
    ["c-a gone", "c-b member", "c-new starting"],
  );
});

test("columns are as wide as their widest cell", () => {
  const rows = memberRows(cluster, [pod("c-lead", serving), pod("c-longername", serving, { node: "node-17" })]);
  assert.deepEqual(tableLines(rows), [
    "MEMBER        NODE     STATE",
    "c-lead        n1       leader",
    "c-longername  node-17  member",
  ]);
});
