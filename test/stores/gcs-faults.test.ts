// Google's Cloud Storage while the server and the way to it fail.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { startFakeGcs } from "../../lab/stores/fake-gcs.ts";
import { type Asked, FaultProxy } from "../../lab/stores/fault-proxy.ts";
import { startGcsSessions } from "../../lab/stores/gcs-sessions.ts";
import type { StoreServer } from "../../lab/stores/server.ts";
import { openStore } from "../../src/store/open.ts";
import type { ObjectStore, StoreTarget } from "../../src/store/store.ts";
import { fails, keysOf } from "../../src/store/testing/contract.ts";
import { brokenOff, digest, made } from "../../src/store/testing/made-body.ts";
import { Ground } from "./ground.ts";

const MiB = 1024 * 1024;
const several = { bytes: 20 * MiB };

let ground: Ground;
let server: StoreServer;
let proxy: FaultProxy;
let target: Extract<StoreTarget, { type: "GCS" }>;
let store: ObjectStore;

before(async () => {
  ground = await Ground.make();
  const place = await ground.place("gcs");
  proxy = ground.keep(await FaultProxy.start(ground.keep(await startGcsSessions(place))));
  // Uploads go where the server says, so it has to say the proxy.
  server = ground.keep(await startFakeGcs(place, { buckets: ["backups"], externalUrl: proxy.url }));
  const secretFolder = await ground.secret("gcs", { "access-token": "hidden-word" });
  target = { type: "GCS", bucket: "backups", endpoint: proxy.url, secretFolder };
  store = ground.keep(await openStore(target));
});
afterEach(() => proxy.become({ t: "none" }));
after(() => ground[Symbol.asyncDispose]());

async function isWhole(key: string, bytes: number): Promise<void> {
  const object = await store.get(key);
  assert.ok(object);
  assert.deepEqual(await digest(object.body), await digest(made({ bytes })));
}

const isPiece = ({ method }: Asked): boolean => method === "PUT";

test("a few answers of 503, and a connection that breaks once, are not noticed", async () => {
  await proxy.become({ t: "answer", status: 503, times: 3 });
  await store.put("retried/a", made(several));
  await proxy.become({ t: "cut", what: "requests", afterBytes: 3 * MiB, times: 1 });
  await store.put("retried/b", made(several));
  await isWhole("retried/a", several.bytes);
  await isWhole("retried/b", several.bytes);
});

test("a piece that was taken and answered into the void is not sent twice", async () => {
  await proxy.become({ t: "lose", times: 1, of: isPiece });
  await store.put("taken/a", made(several));
  await isWhole("taken/a", several.bytes);
});

test("an object whose making was answered into the void is known as ours when it is asked for again", async () => {
  for (const mustBeNew of [false, true]) {
    const key = `lost/${String(mustBeNew)}`;
    await proxy.become({ t: "lose", times: 1, of: ({ method }) => method === "POST" });
    await store.put(key, made({ bytes: 5 }), { mustBeNew });
    await isWhole(key, 5);
    await fails(store.put(key, made({ bytes: 5 }), { mustBeNew: true }), "exists");
  }
});

test("answers of 500 forever, and nobody who listens, are said so and leave nothing", async () => {
  await proxy.become({ t: "answer", status: 500, times: 1000 });
  const error = await fails(store.put("forever/a", made(several)), "unavailable");
  assert.match(error.message, /^gs:\/\/backups: cannot write "forever\/a": .*It says: 500/);
  assert.ok(proxy.requests <= 6, `${proxy.requests} requests`);
  await proxy.become({ t: "refuse" });
  assert.match((await fails(store.put("forever/a", made(several)), "unavailable")).message, /nothing listens/);
  await proxy.become({ t: "none" });
  assert.deepEqual(await keysOf(store, "forever/"), []);
});

for (const [status, code] of [
  [401, "badCredentials"],
  [403, "forbidden"],
] as const)
  test(`an answer of ${status} is said so, is not asked for again, and shows no token`, async () => {
    await proxy.become({ t: "answer", status, times: 1000 });
    const error = await fails(store.put("refused/a", made({ bytes: 1 })), code);
    assert.match(error.message, status === 403 ? /Grant the role Storage Object User/ : /Correct the Secret/);
    assert.ok(!JSON.stringify([error.message, error.cause, error.stack]).includes("hidden-word"));
    assert.equal(proxy.requests, 1);
  });

test("an answer that breaks off midway is an error of the reader, never a shorter object", async () => {
  await store.put("broken/a", made(several));
  await proxy.become({ t: "cut", what: "answers", afterBytes: 5 * MiB, times: 1 });
  const object = await store.get("broken/a");
  assert.ok(object);
  assert.match((await fails(digest(object.body), "unavailable")).message, /cannot read "broken\/a"/);
});

test("a server that dies midway is said so, and shows nothing when it is back", async () => {
  const body = brokenOff(several.bytes, async () => {
    await server.kill();
  });
  const error = await fails(store.put("killed/a", body), "unavailable");
  assert.match(error.message, /^gs:\/\/backups: cannot write "killed\/a"/);
  await server.revive();
  assert.deepEqual(await keysOf(store, "killed/"), []);
  await store.put("killed/a", made(several), { mustBeNew: true });
  await isWhole("killed/a", several.bytes);
});

test("a session that the store forgot is reported: the upload has to start over", async () => {
  const body = brokenOff(several.bytes, async () => {
    await server.kill();
    await server.revive();
  });
  await fails(store.put("forgotten/a", body), "unavailable");
  assert.deepEqual(await keysOf(store, "forgotten/"), []);
});

test("a bucket that is not there is said so", async () => {
  const nowhere = ground.keep(await openStore({ ...target, bucket: "nowhere" }));
  for (const work of [
    () => nowhere.put("a", made({ bytes: 1 })),
    () => nowhere.put("a", made(several)),
    () => keysOf(nowhere, ""),
  ])
    assert.match((await fails(work(), "noBucket")).message, /^gs:\/\/nowhere: .*the bucket does not exist/);
});
