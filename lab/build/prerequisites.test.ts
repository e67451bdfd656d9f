import assert from "node:assert/strict";
import { test } from "node:test";
import { isGoEnough, missingControllers } from "./prerequisites.ts";

test("an old Go is enough only where it may download a newer toolchain", () => {
  assert.equal(isGoEnough("go version go1.26.8 linux/amd64", "local"), true);
  assert.equal(isGoEnough("go version go1.24.1 linux/amd64", "auto"), true);
  assert.equal(isGoEnough("go version go1.24.1 linux/amd64", "local"), false);
  assert.equal(isGoEnough("go version go1.19.8 linux/amd64", "auto"), false);
  assert.equal(isGoEnough("go version go2.0 linux/amd64", "local"), true);
});

test("cgroup controllers are found in the list of v2 and in the mounts of v1", () => {
  assert.deepEqual(missingControllers("cpuset cpu io memory pids\n", ""), []);
  assert.deepEqual(missingControllers("cpu io\n", ""), ["memory", "pids", "cpuset"]);
  const mounts = `proc /proc proc rw 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup /sys/fs/cgroup/pids cgroup rw,relatime,pids 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0
`;
  assert.deepEqual(missingControllers(undefined, mounts), []);
  assert.deepEqual(missingControllers(undefined, mounts.replace("memory cgroup rw,relatime,memory", "x tmpfs rw")), [
    "memory",
  ]);
});
