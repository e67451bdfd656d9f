import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { run } from "../machine/command.ts";
import { ensureArchive, type Image } from "./archive.ts";

let root = "";
before(async () => {
  root = await mkdtemp(path.join(tmpdir(), "archive-test-"));
});
after(() => rm(root, { recursive: true }));

const image = (text: string): Image => ({
  tags: ["lab.local/a:1", "lab.local/b:1"],
  config: { Cmd: ["/bin/a"] },
  layers: [
    [{ is: "text", path: "bin/base", mode: 0o755, text: "base" }],
    [{ is: "text", path: "bin/a", mode: 0o755, text }],
  ],
});

test("the archive's manifest names the configuration, and the configuration the layers by their hashes", async () => {
  const { file, tags, digest } = await ensureArchive(image("one"), root);
  const unpacked = await mkdtemp(path.join(root, "unpacked-"));
  await run("tar", ["-xf", file, "-C", unpacked]);
  const [manifest] = JSON.parse(await run("cat", [path.join(unpacked, "manifest.json")])) as {
    Config: string;
    RepoTags: string[];
    Layers: string[];
  }[];
  assert.deepEqual(manifest!.RepoTags, tags);
  const text = await run("cat", [path.join(unpacked, manifest!.Config)]);
  assert.equal(`sha256:${createHash("sha256").update(text).digest("hex")}`, digest);
  const sums = await run("sha256sum", manifest!.Layers, { cwd: unpacked });
  const config = JSON.parse(text) as { rootfs: { diff_ids: string[] } };
  assert.equal(config.rootfs.diff_ids.length, 2);
  assert.deepEqual(
    config.rootfs.diff_ids,
    [...sums.matchAll(/^[0-9a-f]{64}/gm)].map(([sum]) => `sha256:${sum}`),
  );
});

test("an unchanged image is not written again, a changed one gets another file", async () => {
  const first = await ensureArchive(image("same"), root);
  await writeFile(first.file, "left as it is");
  assert.deepEqual(await ensureArchive(image("same"), root), first);
  assert.equal((await stat(first.file)).size, "left as it is".length);
  const other = await ensureArchive(image("other"), root);
  assert.notEqual(other.file, first.file);
  assert.notEqual(other.digest, first.digest);
});

test("an image that cannot be written whole leaves no file", async () => {
  const before = await readdir(path.join(root, "images"));
  const missing: Image = { ...image(""), layers: [[{ is: "copy", path: "a", mode: 0o755, of: "/no/such" }]] };
  await assert.rejects(ensureArchive(missing, root), { code: "ENOENT" });
  assert.deepEqual(await readdir(path.join(root, "images")), before);
});
