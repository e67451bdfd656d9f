import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { run } from "../machine/command.ts";
import { type Entry, tar, tarSize, withFolders } from "./tar.ts";

let folder = "";
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tar-test-"));
});
after(() => rm(folder, { recursive: true }));

async function bytes(entries: readonly Entry[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of tar(entries)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test("the system's tar reads back what was written, with modes, owners and link targets", async () => {
  const source = path.join(folder, "program");
  await writeFile(source, "x".repeat(1000));
  const archive = path.join(folder, "a.tar");
  const entries = withFolders([
    { is: "copy", path: "usr/bin/program", mode: 0o755, of: source },
    { is: "link", path: "bin/sh", mode: 0o777, to: "/bin/busybox" },
    { is: "folder", path: "tmp", mode: 0o1777 },
    { is: "text", path: "etc/name", mode: 0o644, text: "näme\n" },
  ]);
  await writeFile(archive, await bytes(entries));
  const listed = await run("tar", ["--numeric-owner", "--utc", "-tvf", archive]);
  assert.deepEqual(
    listed
      .trim()
      .split("\n")
      .map((line) => line.replace(/\s+/g, " ")),
    [
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 bin/",
      "lrwxrwxrwx 0/0 0 1970-01-01 00:00 bin/sh -> /bin/busybox",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 etc/",
      "-rw-r--r-- 0/0 6 1970-01-01 00:00 etc/name",
      "drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 usr/",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 usr/bin/",
      "-rwxr-xr-x 0/0 1000 1970-01-01 00:00 usr/bin/program",
    ],
  );
  assert.equal(await run("tar", ["-xOf", archive, "etc/name"]), "näme\n");
  assert.equal(await run("tar", ["-xOf", archive, "usr/bin/program"]), "x".repeat(1000));
});

test("neither the time nor the mode of a copied file changes the archive", async () => {
  const source = path.join(folder, "same");
  await writeFile(source, "content");
  const entries: Entry[] = [{ is: "copy", path: "same", mode: 0o644, of: source }];
  const first = await bytes(entries);
  await utimes(source, 1, 1);
  await chmod(source, 0o600);
  assert.deepEqual(await bytes(entries), first);
});

test("the size of an archive is known before it is written", async () => {
  for (const length of [0, 1, 511, 512, 513]) {
    const entries: Entry[] = [{ is: "text", path: "a", mode: 0o644, text: "x".repeat(length) }];
    assert.equal(await tarSize(entries), (await bytes(entries)).length);
  }
});

test("a path that does not fit and a path given twice are refused", async () => {
  await assert.rejects(bytes([{ is: "folder", path: "a".repeat(101), mode: 0o755 }]), /too long/);
  const twice: Entry = { is: "folder", path: "a", mode: 0o755 };
  assert.throws(() => withFolders([twice, twice]), /twice/);
});

test("a stream of another size than announced is refused", async () => {
  const short: Entry = {
    is: "stream",
    path: "a",
    mode: 0o644,
    size: 3,
    async *bytes() {
      yield Buffer.from("ab");
    },
  };
  await assert.rejects(bytes([short]), /2 bytes, not 3/);
});
