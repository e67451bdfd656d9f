import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { cacheKey, cacheRoot, ensureBuilt, fingerprint, type Recipe } from "./cache.ts";

let root = "";
before(async () => {
  root = await mkdtemp(path.join(tmpdir(), "cache-test-"));
});
after(() => rm(root, { recursive: true }));

/** Silences progress output, which does not belong in test results. */
function heard(t: TestContext): string[] {
  const lines: string[] = [];
  t.mock.method(process.stderr, "write", (text: string) => lines.push(text) > 0);
  return lines;
}

function recipe(name: string, build: Recipe["build"]): Recipe {
  return { name, version: "1", ingredients: ["source"], build };
}

test("the cache is where the environment says; ETCD_OPERATOR_CACHE wins", () => {
  assert.equal(cacheRoot({ ETCD_OPERATOR_CACHE: "/a", XDG_CACHE_HOME: "/b" }), "/a");
  assert.equal(cacheRoot({ XDG_CACHE_HOME: "/b" }), "/b/etcd-operator");
  assert.match(cacheRoot({ XDG_CACHE_HOME: "" }), /\/\.cache\/etcd-operator$/);
});

test("the key changes with every ingredient and with the architecture", () => {
  const base = { name: "etcd", version: "3.6.16", ingredients: ["a", "b"] };
  const keys = [
    cacheKey(base, "x64"),
    cacheKey(base, "arm64"),
    cacheKey({ ...base, ingredients: ["a", "c"] }, "x64"),
    cacheKey({ ...base, ingredients: ["ab"] }, "x64"),
    cacheKey({ ...base, version: "3.6.17" }, "x64"),
  ];
  assert.equal(new Set(keys).size, keys.length);
  assert.match(keys[0]!, /^etcd-3\.6\.16-[0-9a-f]{12}$/);
  assert.equal(cacheKey(base, "x64"), keys[0]);
});

test("the boundaries between parts change the fingerprint", () => {
  assert.notEqual(fingerprint(["ab", "c"]), fingerprint(["a", "bc"]));
});

test("two concurrent requests for a program build it once", async (t) => {
  heard(t);
  let builds = 0;
  const shared = recipe("shared", async (folder) => {
    builds += 1;
    await writeFile(path.join(folder, "program"), `build ${builds}`);
  });
  const folders = await Promise.all([ensureBuilt(shared, root), ensureBuilt(shared, root)]);
  assert.equal(builds, 1);
  assert.equal(folders[0], folders[1]);
  assert.equal(await readFile(path.join(folders[0], "program"), "utf8"), "build 1");
  await ensureBuilt(shared, root);
  assert.equal(builds, 1);
});

test("what a build left that was killed is removed by the next one", async (t) => {
  heard(t);
  const killed = recipe("killed", (folder) => writeFile(path.join(folder, "program"), "whole"));
  const programs = path.join(root, "programs");
  const left = path.join(programs, `.${cacheKey(killed)}.abcdef`);
  await mkdir(left, { recursive: true });
  await writeFile(path.join(left, "program"), "half");
  await ensureBuilt(killed, root);
  const names = (await readdir(programs)).filter((name) => name.includes("killed"));
  assert.deepEqual(names.sort(), [`.${cacheKey(killed)}.lock`, cacheKey(killed)]);
});

test("a build that failed leaves nothing behind and can be tried again", async (t) => {
  const lines = heard(t);
  let failing = true;
  const flaky = recipe("flaky", async (folder) => {
    await writeFile(path.join(folder, "program"), "half");
    if (failing) throw new Error("the disk is full");
  });
  await assert.rejects(ensureBuilt(flaky, root), /the disk is full/);
  const left = (await readdir(path.join(root, "programs"))).filter((name) => name.includes("flaky"));
  assert.deepEqual(left, [`.${cacheKey(flaky)}.lock`]);
  failing = false;
  assert.deepEqual(await readdir(await ensureBuilt(flaky, root)), ["program"]);
  const ends = lines.flatMap((line) => /([✓✗]).* build flaky 1/.exec(line)?.[1] ?? []);
  assert.deepEqual(ends, ["✗", "✓"]);
});
