import assert from "node:assert/strict";
import { test } from "node:test";
import { Pod } from "../../kube/objects/kinds.ts";
import { key, Stage } from "../testing/stage.ts";

for (const [label, value] of [
  ["app", null],
  ["etcd_cluster", "another"],
] as const)
  test(`a pod whose label ${label} somebody took away gets it back, and its member stays`, async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3);
    const before = stage.kubelet.etcd?.members.map(({ id }) => id);
    const [name = ""] = await stage.podNames();
    const pod = { namespace: key.namespace, name };
    await stage.api.mergePatch(Pod, pod, { metadata: { labels: { [label]: value } } });
    await stage.until("the label is back", async () => {
      const { metadata } = await stage.api.get(Pod, pod);
      return metadata?.labels?.["app"] === "etcd" && metadata.labels["etcd_cluster"] === key.name;
    });
    await stage.untilWhole(3);
    assert.deepEqual(
      stage.kubelet.etcd?.members.map(({ id }) => id),
      before,
    );
  });

test("pods that all lose their labels at once get them back, and their data is not reported as lost", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.createWhole(3);
  const before = stage.kubelet.etcd?.members.map(({ id }) => id);
  const pods = (await stage.podNames()).map((name) => ({ namespace: key.namespace, name }));
  for (const pod of pods) await stage.api.mergePatch(Pod, pod, { metadata: { labels: { app: null } } });
  await stage.until("the labels are back", async () => {
    const found = await Promise.all(pods.map((pod) => stage.api.get(Pod, pod)));
    return found.every(({ metadata }) => metadata?.labels?.["app"] === "etcd");
  });
  await stage.untilWhole(3);
  assert.deepEqual(
    stage.kubelet.etcd?.members.map(({ id }) => id),
    before,
  );
  assert.deepEqual(
    stage.recorded.filter(({ type }) => type === "Warning"),
    [],
  );
});
