// Azure's blobs while the server and the way to it fail.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { ContainerClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { azuriteAccount, azuriteKey, startAzurite } from "../../lab/stores/azurite.ts";
import { FaultProxy } from "../../lab/stores/fault-proxy.ts";
import type { StoreServer } from "../../lab/stores/server.ts";
import { openStore } from "../../src/store/open.ts";
import type { ObjectStore, StoreTarget } from "../../src/store/store.ts";
import { fails, keysOf } from "../../src/store/testing/contract.ts";
import { brokenOff, digest, made } from "../../src/store/testing/made-body.ts";
import { Ground } from "./ground.ts";

type Target = Extract<StoreTarget, { type: "ABS" }>;

const MiB = 1024 * 1024;
const several = { bytes: 20 * MiB };

let ground: Ground;
let server: StoreServer;
let proxy: FaultProxy;
let target: Target;
let store: ObjectStore;

before(async () => {
  ground = await Ground.make();
  const place = await ground.place("abs");
  server = ground.keep(await startAzurite(place));
  const key = new StorageSharedKeyCredential(azuriteAccount, azuriteKey);
  await new ContainerClient(`${server.url}/${azuriteAccount}/backups`, key).create();
  proxy = ground.keep(await FaultProxy.start(place));
  const secretFolder = await ground.secret("abs", { "storage-account": azuriteAccount, "storage-key": azuriteKey });
  target = { type: "ABS", container: "backups", endpoint: proxy.url, secretFolder };
  store = ground.keep(await openStore(target));
});
afterEach(() => proxy.become({ t: "none" }));
after(() => ground[Symbol.asyncDispose]());

const open = async (changes: Partial<Target>): Promise<ObjectStore> =>
  ground.keep(await openStore({ ...target, ...changes }));

async function isWhole(key: string, bytes: number): Promise<void> {
  const object = await store.get(key);
  assert.ok(object);
  assert.deepEqual(await digest(object.body), await digest(made({ bytes })));
}

test("a few answers of 500, and a connection that breaks once, are not noticed", async () => {
  await proxy.become({ t: "answer", status: 500, times: 2 });
  await store.put("retried/a", made(several));
  await proxy.become({ t: "cut", what: "requests", afterBytes: 3 * MiB, times: 1 });
  await store.put("retried/b", made(several));
  await isWhole("retried/a", several.bytes);
  await isWhole("retried/b", several.bytes);
});

test("answers of 500 forever, and nobody who listens, are said so and leave nothing", async () => {
  await proxy.become({ t: "answer", status: 500, times: 1000 });
  const error = await fails(store.put("forever/a", made(several)), "unavailable");
  assert.match(error.message, /^abs:\/\/backups: cannot write "forever\/a": .*It says: 500/);
  assert.ok(proxy.requests <= 6, `${proxy.requests} requests`);
  await proxy.become({ t: "refuse" });
  assert.match((await fails(store.put("forever/a", made(several)), "unavailable")).message, /nothing listens/);
  await proxy.become({ t: "none" });
  assert.deepEqual(await keysOf(store, "forever/"), []);
});

test("an answer that breaks off midway is an error of the reader, never a shorter object", async () => {
  await store.put("broken/a", made(several));
  await proxy.become({ t: "cut", what: "answers", afterBytes: 5 * MiB, times: 1 });
  const object = await store.get("broken/a");
  assert.ok(object);
  assert.match((await fails(digest(object.body), "unavailable")).message, /cannot read "broken\/a": .*broke off/);
});

test("a server that dies midway is said so, and shows nothing when it is back", async () => {
  const body = brokenOff(several.bytes, async () => {
    await server.kill();
  });
  const error = await fails(store.put("killed/a", body), "unavailable");
  assert.match(error.message, /^abs:\/\/backups: cannot write "killed\/a"/);
  await server.revive();
  assert.deepEqual(await keysOf(store, "killed/"), []);
  await store.put("killed/a", made(several), { mustBeNew: true });
  await isWhole("killed/a", several.bytes);
});

test("an object whose making was answered into the void is known as ours when it is asked for again", async () => {
  for (const bytes of [5, 9 * MiB])
    for (const mustBeNew of [false, true]) {
      const key = `lost/${bytes}/${String(mustBeNew)}`;
      const isLast = ({ method, path }: { method: string; path: string }): boolean =>
        method === "PUT" && !path.includes("comp=block&");
      await proxy.become({ t: "lose", times: 1, of: isLast });
      await store.put(key, made({ bytes }), { mustBeNew });
      await isWhole(key, bytes);
      await fails(store.put(key, made({ bytes }), { mustBeNew: true }), "exists");
    }
});

test("a container that is not there, and a key that is not accepted, are said so", async () => {
  const nowhere = await open({ container: "nowhere" });
  for (const work of [
    () => nowhere.put("a", made({ bytes: 1 })),
    () => nowhere.put("a", made(several)),
    () => nowhere.get("a"),
    () => keysOf(nowhere, ""),
    () => nowhere.delete("a"),
  ])
    assert.match((await fails(work(), "noBucket")).message, /^abs:\/\/nowhere: .*the container does not exist/);
  const wrong = Buffer.from("hidden-word").toString("base64");
  const secretFolder = await ground.secret("wrong", { "storage-account": azuriteAccount, "storage-key": wrong });
  const error = await fails((await open({ secretFolder })).put("a", made({ bytes: 1 })), "badCredentials");
  assert.match(error.message, /the credentials are not accepted\. Correct the Secret/);
  assert.ok(!JSON.stringify([error.message, error.cause, error.stack]).includes(wrong));
});
