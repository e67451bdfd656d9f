import assert from "node:assert/strict";
import { test } from "node:test";
import { libraryPaths } from "./programs.ts";

test("the output of ldd gives the files, without the kernel's own page", () => {
  const printed = `	linux-vdso.so.1 (0x00007f7efc3f3000)
	libdl.so.2 => /lib/x86_64-linux-gnu/libdl.so.2 (0x00007f7efc3dd000)
	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f7efbe1e000)
	/lib64/ld-linux-x86-64.so.2 (0x00007f7efc3f5000)
`;
  assert.deepEqual(libraryPaths(printed), [
    "/lib/x86_64-linux-gnu/libdl.so.2",
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib64/ld-linux-x86-64.so.2",
  ]);
});

test("a library that this machine lacks is an error, not an image that cannot start", () => {
  assert.throws(() => libraryPaths("	libatomic.so.1 => not found\n"), /libatomic\.so\.1 is missing/);
});
