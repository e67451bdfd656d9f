import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { unthrottle } from "./cgroups.ts";

test("a cgroup that goes lets its processes write as fast as they can, or they would not end", () => {
  const group = mkdtempSync(path.join(tmpdir(), "cgroup-"));
  try {
    const left = (name: string, set: string): string => {
      writeFileSync(path.join(group, name), set);
      unthrottle(group);
      return readFileSync(path.join(group, name), "utf8");
    };
    unthrottle(group);
    assert.equal(left("blkio.throttle.write_iops_device", ""), "");
    assert.equal(left("blkio.throttle.write_iops_device", "254:0 1\n"), "254:0 0");
    assert.equal(left("blkio.throttle.read_iops_device", "254:0 1\n"), "254:0 0");
    assert.equal(
      left("io.max", "254:0 rbps=max wbps=max riops=1 wiops=1\n"),
      "254:0 rbps=max wbps=max riops=max wiops=max",
    );
  } finally {
    rmSync(group, { recursive: true });
  }
});
