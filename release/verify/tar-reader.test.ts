import assert from "node:assert/strict";
import { test } from "node:test";
import { type Entry, tar, withFolders } from "../../lab/images/tar.ts";
import { readTar } from "./tar-reader.ts";

async function written(entries: readonly Entry[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of tar(withFolders(entries), 7)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test("an archive is read as it was written", async () => {
  const bytes = await written([
    { is: "text", path: "a/b", mode: 0o755, text: "x".repeat(513) },
    { is: "text", path: "empty", mode: 0o644, text: "" },
    { is: "link", path: "l", mode: 0o777, to: "a/b" },
  ]);
  assert.deepEqual(
    readTar(bytes).map(({ path, mode, is, content }) => [path, mode, is, content.length]),
    [
      ["a/", 0o755, "folder", 0],
      ["a/b", 0o755, "file", 513],
      ["empty", 0o644, "file", 0],
      ["l", 0o777, "link", 0],
    ],
  );
});

test("an archive that ends too early, or has entries of another kind, is refused", async () => {
  const bytes = await written([{ is: "text", path: "a", mode: 0o644, text: "x".repeat(2000) }]);
  assert.throws(() => readTar(bytes.subarray(0, 1024)), /damaged/);
  const other = Buffer.from(bytes);
  other.write("1", 156);
  assert.throws(() => readTar(other), /damaged/);
});
