import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { run } from "../machine/command.ts";
import { bundle, bundleOf, bundlePlugin, compile } from "./bundle.ts";

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

test("the SDKs of the clouds are in the worker, and the operator does not carry them", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "bundle-"));
  try {
    const sdk = /node_modules\/(@aws-sdk|@smithy|@azure|google-auth-library)\//;
    const operator = await bundleOf("src/main.ts", path.join(folder, "operator.cjs"));
    const worker = await bundleOf("src/worker/program/main.ts", path.join(folder, "worker.cjs"));
    assert.deepEqual(
      operator.filter((file) => sdk.test(file) || /src\/(store|seal)\//.test(file)),
      [],
    );
    for (const vendor of ["@aws-sdk", "@azure", "google-auth-library"])
      assert.ok(
        worker.some((file) => file.includes(vendor)),
        vendor,
      );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the kubectl plugin is one program that runs by its name, and carries neither the operator nor an SDK", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "bundle-"));
  try {
    const plugin = await bundlePlugin(path.join(folder, "kubectl-etcd"));
    assert.match(await run(plugin, ["version"]), /^kubectl-etcd \d+\.\d+\.\d+/);
    // The page is in it: script, style sheet and all.
    const text = await readFile(plugin, "utf8");
    for (const part of ["<!doctype html>", "prefers-color-scheme", "EventSource"]) assert.ok(text.includes(part), part);
    const files = await bundleOf("src/plugin/main.ts", path.join(folder, "files.cjs"));
    assert.deepEqual(
      files.filter((file) => /node_modules\/(@aws-sdk|@azure|google-auth)|src\/(store|seal|operator)/.test(file)),
      [],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a bundle that Node cannot compile is not made", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "bundle-"));
  try {
    // Each of these compiles its bundle before it has its name.
    for (const [entry, name] of [
      ["src/main.ts", "operator.cjs"],
      ["src/worker/program/main.ts", "worker.cjs"],
    ] as const)
      await bundle(entry, path.join(folder, name));
    assert.throws(
      () => compile("const name = given ?? first || second;\n", "operator.cjs"),
      /^Error: The bundle operator\.cjs is not a program: Unexpected token '\|\|'\.$/,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
