import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { blobPath, Blobs, digestOf, mediaTypes } from "./blobs.ts";

test("a document is kept under its hash, and pointed to by hash and size", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "blobs-test-"));
  try {
    const blobs = new Blobs(folder);
    const pointer = blobs.json(mediaTypes.config, { a: "é" });
    assert.deepEqual(pointer, {
      mediaType: mediaTypes.config,
      digest: digestOf('{"a":"é"}'),
      size: Buffer.byteLength('{"a":"é"}'),
    });
    assert.deepEqual(
      blobs.entries.map((entry) => entry.path),
      [blobPath(pointer.digest)],
    );
    blobs.json(mediaTypes.config, { a: "é" });
    assert.equal(blobs.entries.length, 1, "the same content is one blob");
  } finally {
    await rm(folder, { recursive: true });
  }
});
