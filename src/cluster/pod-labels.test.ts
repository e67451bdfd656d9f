import assert from "node:assert/strict";
import { test } from "node:test";
import { Pod } from "../kube/kinds.ts";
import { key, RunningOperator } from "./testing/running-operator.ts";

for (const [label, value] of [
  ["app", null],
  ["etcd_cluster", "another"],
] as const)
  test(`a pod whose label ${label} somebody took away gets it back, and its member stays`, async () => {
    await using operator = new RunningOperator();
    await operator.create(3);
    await operator.ready(3);
    const before = operator.kubelet.etcd?.members.map(({ id }) => id);
    const [name = ""] = await operator.podNames();
    const pod = { namespace: key.namespace, name };
    await operator.api.mergePatch(Pod, pod, { metadata: { labels: { [label]: value } } });
    await operator.until("the label is back", async () => {
      const { metadata } = await operator.api.get(Pod, pod);
      return metadata?.labels?.["app"] === "etcd" && metadata.labels["etcd_cluster"] === key.name;
    });
    await operator.ready(3);
    assert.deepEqual(
      operator.kubelet.etcd?.members.map(({ id }) => id),
      before,
    );
  });
