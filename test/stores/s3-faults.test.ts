// S3 while everything around it fails: what is said, what is tried again, and that no half object is ever seen.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { after, afterEach, before, test } from "node:test";
import { FaultProxy } from "../../lab/stores/fault-proxy.ts";
import type { Place, StoreServer } from "../../lab/stores/server.ts";
import { addS3User, rootKeys, type S3Keys, startVersitygw } from "../../lab/stores/versitygw.ts";
import { openStore } from "../../src/store/open.ts";
import { openS3 } from "../../src/store/s3/s3-store.ts";
import type { ObjectStore, StoreTarget } from "../../src/store/store.ts";
import { fails, keysOf } from "../../src/store/testing/contract.ts";
import { brokenOff, digest, made } from "../../src/store/testing/made-body.ts";
import { makeAuthority, makeLeaf } from "../../src/tls/make.ts";
import { Ground, smallDisk } from "./ground.ts";

type Target = Extract<StoreTarget, { type: "S3" }>;

const MiB = 1024 * 1024;
const several = { bytes: 20 * MiB };

let ground: Ground;
let place: Place;
let server: StoreServer;
let proxy: FaultProxy;
/** Through the proxy. */
let target: Target;
let store: ObjectStore;

before(async () => {
  ground = await Ground.make();
  place = await ground.place("s3");
  server = ground.keep(await startVersitygw(place, { buckets: ["backups"] }));
  proxy = ground.keep(await FaultProxy.start(place));
  const secretFolder = await ground.awsSecret("aws", rootKeys);
  target = { type: "S3", bucket: "backups", endpoint: proxy.url, forcePathStyle: true, secretFolder };
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

for (const status of [500, 503])
  test(`a few answers of ${status} are not noticed`, async () => {
    await proxy.become({ t: "answer", status, times: 3 });
    await store.put(`retried/${status}`, made(several));
    await proxy.become({ t: "answer", status, times: 3 });
    await isWhole(`retried/${status}`, several.bytes);
  });

test("answers of 500 forever are said so, after a bounded number of requests", async () => {
  await proxy.become({ t: "answer", status: 500, times: 1000 });
  const error = await fails(store.put("forever/a", made(several)), "unavailable");
  assert.match(error.message, /^s3:\/\/backups: cannot write "forever\/a": .*It says: 500/);
  assert.ok(proxy.requests <= 12, `${proxy.requests} requests`);
  await fails(store.get("forever/a"), "unavailable");
  await fails(keysOf(store, "forever/"), "unavailable");
  await proxy.become({ t: "none" });
  assert.deepEqual(await keysOf(store, "forever/"), []);
});

test("a connection that breaks once is not noticed; one that always breaks is said so and leaves nothing", async () => {
  await proxy.become({ t: "cut", what: "requests", afterBytes: 3 * MiB, times: 1 });
  await store.put("cut/once", made(several));
  await isWhole("cut/once", several.bytes);
  await proxy.become({ t: "cut", what: "requests", afterBytes: 3 * MiB, times: 1000 });
  const error = await fails(store.put("cut/always", made(several)), "unavailable");
  assert.match(error.message, /the connection broke off/);
  await proxy.become({ t: "none" });
  assert.deepEqual(await keysOf(store, "cut/"), ["cut/once"]);
  assert.equal(await store.abortLeftovers("cut/"), 0);
});

test("an answer that breaks off midway is an error of the reader, never a shorter object", async () => {
  await store.put("broken/a", made(several));
  await proxy.become({ t: "cut", what: "answers", afterBytes: 5 * MiB, times: 1 });
  const object = await store.get("broken/a");
  assert.ok(object);
  const error = await fails(digest(object.body), "unavailable");
  assert.match(error.message, /cannot read "broken\/a"/);
});

test("a store that wants an MD5 of every body gets one", async () => {
  await proxy.become({ t: "demand", header: "content-md5" });
  for (const bytes of [5, several.bytes]) {
    const demanding = await open({});
    await demanding.put(`md5/${bytes}`, made({ bytes }));
    await isWhole(`md5/${bytes}`, bytes);
  }
});

test("nobody who listens is said so", async () => {
  await proxy.become({ t: "refuse" });
  const error = await fails(store.put("refused/a", made(several)), "unavailable");
  assert.match(error.message, /nothing listens at the endpoint/);
});

test("a store that is slow is waited for as long as it moves, and one that is silent is given up", async () => {
  // Well above what a busy machine takes for one request, and below what all of them take together.
  const patient = ground.keep(await openS3(target, { connectMs: 5000, silentMs: 6000 }));
  await proxy.become({ t: "slow", bytesPerSecond: 2.5 * MiB });
  const began = performance.now();
  await patient.put("slow/a", made(several));
  assert.ok(performance.now() - began > 7000, "it was not slow");
  const object = await patient.get("slow/a");
  assert.deepEqual(await digest(object?.body ?? made({ bytes: 0 })), await digest(made(several)));
  const impatient = ground.keep(await openS3(target, { connectMs: 5000, silentMs: 2000 }));
  await proxy.become({ t: "silent" });
  const error = await fails(impatient.put("slow/b", made({ bytes: 1 })), "unavailable");
  assert.match(error.message, /does not answer in time.*nothing moved for 2 s/);
});

test("a server that dies midway is said so, shows nothing when it is back, and the next run ends what is left", async () => {
  const body = brokenOff(several.bytes, async () => {
    await server.kill();
  });
  const error = await fails(store.put("killed/a", body), "unavailable");
  assert.match(error.message, /^s3:\/\/backups: cannot write "killed\/a"/);
  await server.revive();
  assert.deepEqual(await keysOf(store, "killed/"), []);
  assert.equal(await store.abortLeftovers("killed/"), 1);
  await store.put("killed/a", made(several), { mustBeNew: true });
  await isWhole("killed/a", several.bytes);
});

for (const [what, bytes, isLast] of [
  ["one request", 5, ({ method }) => method === "PUT"],
  ["several parts", 9 * MiB, ({ method, path }) => method === "POST" && path.includes("uploadId=")],
] as const satisfies [string, number, (asked: { method: string; path: string }) => boolean][])
  test(`of ${what}: an object whose making was answered into the void is known as ours when it is asked for again`, async () => {
    for (const mustBeNew of [false, true]) {
      const key = `lost/${bytes}/${String(mustBeNew)}`;
      await proxy.become({ t: "lose", times: 1, of: isLast });
      await store.put(key, made({ bytes }), { mustBeNew });
      await isWhole(key, bytes);
      await fails(store.put(key, made({ bytes }), { mustBeNew: true }), "exists");
    }
  });

test("a bucket that is not there is said so by every call that can know", async () => {
  const other = await open({ bucket: "nowhere" });
  for (const work of [
    () => other.put("a", made({ bytes: 1 })),
    () => other.put("a", made(several)),
    () => other.get("a"),
    () => keysOf(other, ""),
    () => other.delete("a"),
    () => other.abortLeftovers(""),
  ]) {
    const error = await fails(work(), "noBucket");
    assert.match(error.message, /^s3:\/\/nowhere: cannot .*the bucket does not exist\. Create the bucket, or correct/);
  }
});

test("keys that are not accepted are said so, without the secret", async () => {
  const cases: Record<string, S3Keys> = {
    "wrong-secret": { accessKeyId: rootKeys.accessKeyId, secretAccessKey: "hidden-word-1" },
    "unknown-user": { accessKeyId: "nobody", secretAccessKey: "hidden-word-2" },
  };
  for (const [name, keys] of Object.entries(cases)) {
    const other = await open({ secretFolder: await ground.awsSecret(name, keys) });
    for (const work of [() => other.put("a", made({ bytes: 1 })), () => other.get("a"), () => keysOf(other, "")]) {
      const error = await fails(work(), "badCredentials");
      assert.match(error.message, /the credentials are not accepted\. Correct the Secret/);
      assert.ok(!JSON.stringify([error.message, error.cause, error.stack]).includes("hidden-word"), name);
    }
  }
});

test("a Secret whose credentials lack the profile is said so; nothing else is tried in its place", async () => {
  const secretFolder = await ground.secret("other-profile", {
    credentials: "[prod]\naws_access_key_id = a\naws_secret_access_key = b\n",
  });
  const other = await open({ secretFolder });
  const error = await fails(other.put("a", made({ bytes: 1 })), "badCredentials");
  assert.match(error.message, /profile.*default/);
});

test("an error for a user without permissions names which to grant", async () => {
  const keys = { accessKeyId: "reader", secretAccessKey: "reader-secret-key" };
  await addS3User(server, keys);
  const other = await open({ secretFolder: await ground.awsSecret("reader", keys) });
  await store.put("permissions/a", made({ bytes: 1 }));
  const grants = {
    "s3:PutObject": () => other.put("permissions/b", made({ bytes: 1 })),
    "s3:GetObject": () => other.get("permissions/a"),
    "s3:ListBucket": () => keysOf(other, "permissions/"),
    "s3:DeleteObject": () => other.delete("permissions/a"),
    "s3:ListBucketMultipartUploads": () => other.abortLeftovers("permissions/"),
  };
  for (const [permission, work] of Object.entries(grants)) {
    const error = await fails(work(), "forbidden");
    assert.match(error.message, new RegExp(`the credentials do not allow it\\. Grant .*${permission}`));
  }
  assert.deepEqual(await keysOf(store, "permissions/"), ["permissions/a"]);
});

test("a store that gets full is said so, and keeps nothing of the object", async () => {
  const disk = await smallDisk(ground, "small", 40);
  const at = { ...(await ground.place("unused")), folder: path.join(disk, "s3") };
  const full = ground.keep(await startVersitygw(at, { buckets: ["backups"] }));
  const other = await open({ endpoint: full.url });
  const error = await fails(other.put("full/a", made({ bytes: 80 * MiB })), "full");
  assert.match(error.message, /there is no space left\. Make room/);
  assert.deepEqual(await keysOf(other, "full/"), []);
  assert.equal(await other.abortLeftovers("full/"), 0);
  await other.put("full/b", made({ bytes: 9 * MiB }));
  assert.deepEqual(await keysOf(other, "full/"), ["full/b"]);
});

test("an endpoint with a CA of its own is trusted by that CA, and without it the sentence asks for it", async () => {
  const authority = await makeAuthority("stores", Date.now());
  const leaf = await makeLeaf(
    authority,
    { commonName: "s3", names: ["localhost"], ips: ["127.0.0.1"], use: "server" },
    Date.now(),
  );
  const folder = await ground.secret("server", { "tls.crt": leaf.cert, "tls.key": leaf.key });
  const tls = { cert: path.join(folder, "tls.crt"), key: path.join(folder, "tls.key") };
  const secure = ground.keep(await startVersitygw(await ground.place("tls"), { buckets: ["backups"], tls }));
  const caFolder = await ground.secret("ca", { "ca.crt": authority.cert });
  const trusting = await open({ endpoint: secure.url, caFolder });
  await trusting.put("tls/a", made(several));
  assert.deepEqual(await keysOf(trusting, "tls/"), ["tls/a"]);
  const error = await fails((await open({ endpoint: secure.url })).put("tls/b", made({ bytes: 1 })), "refused");
  assert.match(error.message, /certificate is not trusted\. Give the CA/);
  await fails(open({ endpoint: secure.url, caFolder: await ground.secret("no-ca", {}) }), "refused");
});

test("an endpoint that is something else is said so", async () => {
  const page = createServer((_, response) => response.writeHead(404, { "content-type": "text/html" }).end("<html>"));
  page.listen(0, "127.0.0.1");
  await once(page, "listening");
  try {
    const { port } = page.address() as AddressInfo;
    const other = await open({ endpoint: `http://127.0.0.1:${port}` });
    const error = await fails(other.put("a", made({ bytes: 1 })), "refused");
    assert.match(error.message, /^s3:\/\/backups: cannot write "a": .*404/);
  } finally {
    page.closeAllConnections();
    page.close();
  }
  await fails(open({ endpoint: "http://" }), "refused");
});
