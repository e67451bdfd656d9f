// Whatever was written is synced, however deep it lies: what cannot be synced is an error.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { syncTree } from "./durable.ts";

test("every file of a tree is synced, and one that cannot be is an error", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "durable-"));
  try {
    const deep = path.join(root, "member/snap");
    await mkdir(deep, { recursive: true });
    await writeFile(path.join(deep, "db"), "x");
    await syncTree(root);
    for (const folder of [root, deep]) {
      // Opening it fails, as a file does on a broken disk.
      const broken = path.join(folder, "broken");
      await symlink(path.join(root, "nowhere"), broken);
      await assert.rejects(syncTree(root), { code: "ENOENT" }, folder);
      await rm(broken);
    }
  } finally {
    await rm(root, { recursive: true });
  }
});
