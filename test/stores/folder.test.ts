// A folder on file systems that refuse: the contract with a process that really dies, a full one, one that is read-only.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { run } from "../../lab/machine/command.ts";
import { openStore } from "../../src/store/open.ts";
import type { ObjectStore, StoreTarget } from "../../src/store/store.ts";
import { fails, keysOf, storeContract } from "../../src/store/testing/contract.ts";
import { made } from "../../src/store/testing/made-body.ts";
import { crashIn, fillBucket, Ground, smallDisk } from "./ground.ts";

const MiB = 1024 * 1024;

let ground: Ground;
let target: Extract<StoreTarget, { type: "PVC" }>;
let store: ObjectStore;

before(async () => {
  ground = await Ground.make();
  target = { type: "PVC", folder: path.join(ground.folder, "volume") };
  await mkdir(target.folder);
  store = ground.keep(await openStore(target));
});
after(() => ground[Symbol.asyncDispose]());

storeContract(() => ({
  store,
  leftovers: "aborted",
  fill: (keys) => fillBucket(target.folder, keys),
  crash: (key) => crashIn({ target, key, bytes: 20 * MiB }),
}));

test("a volume that gets full is said so, and keeps nothing of the object", async () => {
  const folder = await smallDisk(ground, "small", 10);
  const small = await openStore({ type: "PVC", folder });
  const error = await fails(small.put("full/a", made({ bytes: 20 * MiB })), "full");
  assert.match(error.message, /small: cannot write "full\/a": there is no space left\. Make room/);
  assert.deepEqual(await keysOf(small, ""), []);
  assert.equal(await small.abortLeftovers(""), 0);
  await small.put("full/a", made({ bytes: 9 * MiB }));
});

test("a volume that is mounted read-only is said so, and can be read", async () => {
  const folder = await smallDisk(ground, "frozen", 1);
  await writeFile(path.join(folder, "a"), "x");
  await run("mount", ["-o", "remount,ro", folder]);
  const frozen = await openStore({ type: "PVC", folder });
  for (const work of [() => frozen.put("b", made({ bytes: 1 })), () => frozen.delete("a")])
    assert.match((await fails(work(), "forbidden")).message, /Grant the pod's user permission to write/);
  assert.deepEqual(await keysOf(frozen, ""), ["a"]);
});

test("a file that the administrator made immutable is kept, and said to be locked", async () => {
  await store.put("locked/a", made({ bytes: 1 }));
  const file = path.join(target.folder, "locked/a");
  await run("chattr", ["+i", file]);
  try {
    assert.match((await fails(store.delete("locked/a"), "locked")).message, /by its retention or a legal hold/);
  } finally {
    await run("chattr", ["-i", file]);
  }
  await store.delete("locked/a");
});
