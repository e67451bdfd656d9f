import assert from "node:assert/strict";
import { test } from "node:test";
import { usedChunks } from "./used-chunks.ts";

const MiB = 1024 * 1024;

test("used chunks are collected each time that two mebibytes have passed by", () => {
  const collected: object[] = [];
  const passed = usedChunks((options) => void collected.push(options));
  for (let at = 0; at < 9; at += 1) passed(MiB / 2);
  assert.deepEqual(collected, [{ type: "minor" }, { type: "minor" }]);
});

test("memory of chunks that nobody holds any more is given back", () => {
  const passed = usedChunks();
  let most = 0;
  for (let at = 0; at < 2048; at += 1) {
    passed(Buffer.allocUnsafeSlow(64 * 1024).length);
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  }
  assert.ok(most < 16 * MiB, `${most} bytes at a time, of ${2048 * 64 * 1024}`);
});
