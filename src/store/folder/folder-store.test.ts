import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { fails, keysOf, storeContract } from "../testing/contract.ts";
import { brokenOff, made } from "../testing/made-body.ts";
import { FolderStore } from "./folder-store.ts";
import { isTemporary, temporaryName } from "./folder-listing.ts";

let folder = "";
let store: FolderStore;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "store-"));
  store = new FolderStore(folder);
});
after(() => rm(folder, { recursive: true, force: true }));

storeContract(() => ({
  store,
  leftovers: "aborted",
  async crash(key) {
    const file = path.join(folder, path.dirname(key), temporaryName(path.basename(key), Buffer.alloc(6, 7)));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, "half of it");
  },
}));

test("a folder that is not there is said so", async () => {
  const gone = new FolderStore(path.join(folder, "nowhere"));
  for (const work of [
    () => gone.put("a", made({ bytes: 1 })),
    () => gone.get("a"),
    () => gone.head("a"),
    () => gone.delete("a"),
    () => keysOf(gone, ""),
    () => gone.abortLeftovers(""),
  ]) {
    const error = await fails(work(), "noBucket");
    assert.match(error.message, /nowhere: cannot .* the folder does not exist\. Create the folder/);
  }
});

test("no key leaves the folder", async () => {
  for (const key of ["../a", "/etc/passwd", "a/../../b", ""]) {
    await fails(store.put(key, made({ bytes: 1 })), "refused");
    await fails(store.get(key), "refused");
    await fails(store.delete(key), "refused");
  }
});

test("a key where a folder is, or below a file, is refused in a sentence", async () => {
  await store.put("mixed/file", made({ bytes: 1 }));
  assert.match((await fails(store.put("mixed", made({ bytes: 1 })), "refused")).message, /Choose another path/);
  assert.match((await fails(store.put("mixed/file/a", made({ bytes: 1 })), "refused")).message, /Choose another path/);
  assert.equal(await store.get("mixed"), undefined);
  assert.equal(await store.head("mixed/file/a"), undefined);
  assert.match((await fails(store.put("x".repeat(256), made({ bytes: 1 })), "refused")).message, /shorter/);
});

test("what is being written is never listed, and is not taken for a leftover", async () => {
  let seen: string[] | undefined;
  let aborted: number | undefined;
  const body = brokenOff(100_000, async () => {
    seen = await keysOf(store, "visible/");
    aborted = await store.abortLeftovers("visible/");
  });
  await store.put("visible/a", body);
  assert.deepEqual(seen, []);
  assert.equal(aborted, 0);
  assert.deepEqual(await readdir(path.join(folder, "visible")), ["a"]);
});

test("names of temporary files fit, whatever the key is, and cannot be used as keys", async () => {
  for (const name of ["a", "ü".repeat(127), "k".repeat(255), "🔑".repeat(63)]) {
    const temporary = temporaryName(name, Buffer.alloc(6));
    assert.ok(Buffer.byteLength(temporary) <= 255);
    assert.ok(isTemporary(temporary));
    await fails(store.put(temporary, made({ bytes: 1 })), "refused");
  }
});

test("the file system's own folder of found files is not part of the store", async () => {
  await mkdir(path.join(folder, "lost+found"), { recursive: true });
  await writeFile(path.join(folder, "lost+found", "#1"), "");
  assert.deepEqual(await keysOf(store, "lost"), []);
});

test("objects are readable by their owner and group alone: a volume's fsGroup lets other pods restore them", async () => {
  await store.put("private", made({ bytes: 1 }));
  assert.equal((await stat(path.join(folder, "private"))).mode & 0o007, 0);
  assert.equal((await stat(path.join(folder, "private"))).mode & 0o440, 0o440);
});
