import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import * as path from "node:path";
import { test } from "node:test";
import { etcdutlVersion } from "../../lab/build/etcd.ts";
import { folderOf, goVersion } from "./locked.ts";

const textOf = (program: string, file: string): Promise<string> => readFile(path.join(folderOf(program), file), "utf8");

test("the etcdutl of a release is that of the lab's image and of the Dockerfile", async () => {
  assert.match(await textOf("etcdutl", "go.mod"), new RegExp(`go\\.etcd\\.io/etcd/etcdutl/v3 v${etcdutlVersion}\\b`));
});

test("every module of every program has its hash, and a version of Go that releases are built with", async () => {
  const entries = await readdir(import.meta.dirname, { withFileTypes: true });
  const programs = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.ok(programs.length >= 4);
  const number = (version: string): number =>
    version.split(".").reduce((sum, part, at) => sum + Number(part) * 1000 ** (2 - at), 0);
  for (const program of programs) {
    const mod = await textOf(program, "go.mod");
    const needs = /^go (\S+)$/m.exec(mod)?.[1] ?? "";
    assert.ok(number(goVersion) >= number(needs), `${program} needs Go ${needs}`);
    const required = [...mod.matchAll(/^\t(\S+) (v\S+)/gm), ...mod.matchAll(/^require (\S+) (v\S+)$/gm)];
    if (required.length === 0) continue;
    const sums = await textOf(program, "go.sum");
    for (const [, module, version] of required)
      assert.ok(sums.includes(`${module} ${version}/go.mod h1:`), `${program}: ${module} ${version}`);
  }
});
