// Alibaba's OSS, by what is known of how it differs from S3, before a server of S3 that checks signatures.
import assert from "node:assert/strict";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { startOssProxy } from "../../lab/stores/oss-proxy.ts";
import { rootKeys, startVersitygw } from "../../lab/stores/versitygw.ts";
import { openStore } from "../../src/store/open.ts";
import type { ObjectStore, StoreTarget } from "../../src/store/store.ts";
import { fails, storeContract } from "../../src/store/testing/contract.ts";
import { made } from "../../src/store/testing/made-body.ts";
import { crashIn, fillBucket, Ground } from "./ground.ts";
import { ossDomain } from "./loopback-names.ts";

let ground: Ground;
let target: Extract<StoreTarget, { type: "OSS" }>;
let store: ObjectStore;
let bucket = "";

before(async () => {
  ground = await Ground.make();
  const place = await ground.place("oss");
  bucket = path.join(place.folder, "backups");
  ground.keep(await startVersitygw(place, { buckets: ["backups"], virtualDomain: ossDomain }));
  const proxy = ground.keep(await startOssProxy(place, ossDomain));
  const secretFolder = await ground.secret("oss", {
    accessKeyID: `${rootKeys.accessKeyId}\n`,
    accessKeySecret: `${rootKeys.secretAccessKey}\n`,
  });
  target = { type: "OSS", bucket: "backups", endpoint: proxy.url, secretFolder };
  store = ground.keep(await openStore(target));
});
after(() => ground[Symbol.asyncDispose]());

storeContract(() => ({
  store,
  leftovers: "aborted",
  fill: (keys) => fillBucket(bucket, keys),
  crash: (key) => crashIn({ target, key, bytes: 20 * 1024 * 1024 }),
}));

test("a client of S3 with path style is refused there, and the sentence says what to do", async () => {
  const secretFolder = await ground.awsSecret("aws", rootKeys);
  const { endpoint } = target;
  const plain = ground.keep(
    await openStore({ type: "S3", bucket: "backups", endpoint, forcePathStyle: true, secretFolder }),
  );
  const error = await fails(plain.put("a", made({ bytes: 1 })), "refused");
  assert.match(error.message, /^s3:\/\/backups: cannot write "a": .*Leave forcePathStyle unset/);
});

test("a key that is missing in the Secret is named", async () => {
  const secretFolder = await ground.secret("half", { accessKeyID: "only-this" });
  const error = await fails(openStore({ ...target, secretFolder }), "badCredentials");
  assert.match(error.message, /^oss:\/\/backups: .*has no entry accessKeySecret/);
});
