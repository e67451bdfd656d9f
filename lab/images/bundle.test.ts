import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { bundle } from "./bundle.ts";

test("a stack from the image names our functions, classes and private methods", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "bundle-"));
  try {
    const text = await readFile(await bundle("src/main.ts", path.join(folder, "operator.cjs")), "utf8");
    for (const name of [/function reconcileCluster\(/, /class Informer\b|\bInformer=class\b/, /#renewUntil\(/])
      assert.ok(name.test(text), `the bundle has no ${name}`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
