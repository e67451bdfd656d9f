import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { withApt } from "./apt.ts";

const step = { detail: () => {} };
const { PATH, ETCD_OPERATOR_CACHE } = process.env;
let folder = "";
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "apt-test-"));
  process.env["PATH"] = `${folder}:${PATH ?? ""}`;
  process.env["ETCD_OPERATOR_CACHE"] = path.join(folder, "cache");
});
after(async () => {
  process.env["PATH"] = PATH;
  if (ETCD_OPERATOR_CACHE === undefined) delete process.env["ETCD_OPERATOR_CACHE"];
  else process.env["ETCD_OPERATOR_CACHE"] = ETCD_OPERATOR_CACHE;
  await rm(folder, { recursive: true });
});

/** Puts a script in the place of apt-get; it runs in the test's folder. */
const become = (script: string): Promise<void> =>
  writeFile(path.join(folder, "apt-get"), `#!/bin/sh\ncd ${folder}\n${script}\n`, { mode: 0o755 });
const called = async (): Promise<string> => readFile(path.join(folder, "calls"), "utf8");

test("a lock that another program holds is waited for", async () => {
  const locked = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)";
  await become(
    `echo call >> calls; if [ -e free ]; then echo done; else touch free; echo "${locked}" >&2; exit 100; fi`,
  );
  assert.equal(await withApt(step, (apt) => apt(["update"])), "done\n");
  assert.equal(await called(), "call\ncall\n");
});

test("any other failure is reported at once, in its own words", async () => {
  await become(`echo call > calls; echo "E: Unable to locate package nothing" >&2; exit 100`);
  await assert.rejects(
    withApt(step, (apt) => apt(["install", "nothing"])),
    /Unable to locate package nothing/,
  );
  assert.equal(await called(), "call\n");
});

test("two runs take turns", async () => {
  await become('case "$*" in *update*) mkdir held ;; *) rmdir held ;; esac');
  const twice = (): Promise<string> =>
    withApt(step, async (apt) => {
      await apt(["update"]);
      return apt(["install", "something"]);
    });
  assert.deepEqual(await Promise.all([twice(), twice(), twice()]), ["", "", ""]);
});
