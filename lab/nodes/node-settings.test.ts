import assert from "node:assert/strict";
import { test } from "node:test";
import { labConfig, labNode } from "../config.ts";
import { containerdSettings, kubeletSettings, networkSettings } from "./node-settings.ts";

const hasSetting = (kubernetes: string): boolean => {
  const lab = labConfig({ kubernetes });
  return JSON.stringify(kubeletSettings(lab, labNode(lab, 0))).includes('"failCgroupV1":false');
};

test("kubelet 1.35 and later are configured to accept cgroup v1, which they refuse by default", () => {
  assert.deepEqual(["1.34.4", "1.35.0", "1.36.1"].map(hasSetting), [false, true, true]);
});

test("no two nodes, and no two labs, share an address range or a folder", () => {
  const labs = [labConfig(), labConfig({ name: "other", subnet: "10.98.0.0/16" })];
  const settings = labs.flatMap((lab) =>
    [0, 1, 2].map((index) => {
      const node = labNode(lab, index);
      return [JSON.stringify(networkSettings(lab, node)), containerdSettings(node)];
    }),
  );
  const paths = settings.map((texts) => new Set(texts.join().match(/"\/[^"]*"|"\d+\.\d+\.\d+\.\d+\/\d+"/g)));
  const shared = new Set(['"/usr/lib/cni"', '"0.0.0.0/0"']);
  for (const [index, one] of paths.entries())
    for (const other of paths.slice(index + 1))
      assert.deepEqual(
        [...one].filter((text) => other.has(text) && !shared.has(text)),
        [],
      );
});
