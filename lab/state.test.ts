import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { labConfig } from "./config.ts";
import { removeState, stateFolders } from "./state.ts";

function folderWith(...files: string[]): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "lab-state-"));
  for (const file of files) {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    fs.writeFileSync(path.join(folder, file), "");
  }
  return folder;
}

test("the default lab's files go, programs and other labs stay", () => {
  const tree = folderWith(".lab/bin/kubectl", ".lab/labs/other/kubeconfig", ".lab/kubeconfig", ".lab/nodes/n0/x");
  removeState({ ...labConfig(), state: path.join(tree, ".lab") }, { logs: false });
  assert.deepEqual(fs.readdirSync(path.join(tree, ".lab")).sort(), ["bin", "labs"]);
  assert.equal(fs.existsSync(path.join(tree, ".lab/labs/other/kubeconfig")), true);
  fs.rmSync(tree, { recursive: true });
});

test("a named lab's folder goes whole, unless its logs are to stay", () => {
  const tree = folderWith(".lab/labs/other/kubeconfig", ".lab/labs/other/logs/etcd.log");
  const lab = { ...labConfig({ name: "other" }), state: path.join(tree, ".lab/labs/other") };
  removeState(lab, { logs: true });
  assert.deepEqual(stateFolders(lab), [path.join(lab.state, "logs")]);
  removeState(lab, { logs: false });
  assert.equal(fs.existsSync(lab.state), false);
  fs.rmSync(tree, { recursive: true });
});

test("a folder that is not a lab's is never emptied, whatever a record says", () => {
  const tree = folderWith("precious");
  assert.throws(() => removeState({ ...labConfig(), state: tree }, { logs: false }), /is not the folder of a lab/);
  assert.deepEqual(fs.readdirSync(tree), ["precious"]);
  fs.rmSync(tree, { recursive: true });
});
