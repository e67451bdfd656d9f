import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { run } from "../lab/machine/command.ts";
import { revisionOf, withSource } from "./source.ts";

let tree = "";
before(async () => {
  tree = await realpath(await mkdtemp(path.join(tmpdir(), "release-tree-")));
  for (const folder of ["src", "site/node_modules/x", "node_modules/y", "dist", ".git-not"])
    await mkdir(path.join(tree, folder), { recursive: true });
  await writeFile(path.join(tree, "package.json"), '{"name":"x","version":"0.1.0"}');
  await writeFile(path.join(tree, "src/main.ts"), "1");
});
after(() => rm(tree, { recursive: true }));

const git = (...args: string[]): Promise<string> =>
  run("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: tree });

test("the copy has the version of the release, and nothing that was made", async () => {
  const copied = await withSource(tree, "0.2.0", async (copy) => {
    const { version } = JSON.parse(await readFile(path.join(copy, "package.json"), "utf8")) as { version: string };
    assert.equal(version, "0.2.0");
    assert.deepEqual(await readdir(path.join(copy, "site")), []);
    assert.deepEqual(await readdir(path.join(copy, "node_modules")), ["y"]);
    assert.deepEqual(await readdir(path.join(copy, "dist")), []);
    return copy;
  });
  await assert.rejects(readdir(copied), { code: "ENOENT" });
  assert.match(await readFile(path.join(tree, "package.json"), "utf8"), /0\.1\.0/);
});

test("a tree that is no git repository says its commit in the environment", async () => {
  const wanted = { uncommitted: false };
  await assert.rejects(revisionOf(tree, wanted, {}), /set REVISION .* and SOURCE_DATE_EPOCH/);
  await assert.rejects(revisionOf(tree, wanted, { REVISION: "abc", SOURCE_DATE_EPOCH: "soon" }), /SOURCE_DATE_EPOCH/);
  assert.deepEqual(await revisionOf(tree, wanted, { REVISION: "abc", SOURCE_DATE_EPOCH: "7" }), {
    revision: "abc",
    time: 7,
  });
});

test("a commit is released with its own time, and changes beside it only when asked for", async () => {
  await git("init", "--quiet");
  await git("add", "package.json", "src");
  await git("commit", "--quiet", "--message=one", "--date=2026-01-02T03:04:05Z");
  const [commit = "", seconds = ""] = (await git("log", "-1", "--format=%H %ct")).trim().split(" ");
  await writeFile(path.join(tree, ".gitignore"), "*\n");
  assert.deepEqual(await revisionOf(tree, { uncommitted: false }, {}), { revision: commit, time: Number(seconds) });
  await writeFile(path.join(tree, "src/main.ts"), "2");
  await assert.rejects(revisionOf(tree, { uncommitted: false }, {}), /not committed:\nM src\/main\.ts/);
  const { revision } = await revisionOf(tree, { uncommitted: true }, {});
  assert.equal(revision, `${commit}-modified`);
});
