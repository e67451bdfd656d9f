// S3 on a real server: the contract, with path style and signatures that are checked.
import assert from "node:assert/strict";
import * as path from "node:path";
import { HeadObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { after, before, test } from "node:test";
import { rootKeys, startVersitygw } from "../../lab/stores/versitygw.ts";
import { openStore } from "../../src/store/open.ts";
import type { ObjectStore, StoreTarget } from "../../src/store/store.ts";
import { fails, storeContract } from "../../src/store/testing/contract.ts";
import { digest, made } from "../../src/store/testing/made-body.ts";
import { crashIn, fillBucket, Ground } from "./ground.ts";
import { awsName } from "./loopback-names.ts";

let ground: Ground;
let target: Extract<StoreTarget, { type: "S3" }>;
let store: ObjectStore;
let bucket = "";

before(async () => {
  ground = await Ground.make();
  const place = await ground.place("s3");
  bucket = path.join(place.folder, "backups");
  const server = ground.keep(await startVersitygw(place, { buckets: ["backups"] }));
  const secretFolder = await ground.awsSecret("aws", rootKeys);
  target = { type: "S3", bucket: "backups", endpoint: server.url, forcePathStyle: true, secretFolder };
  store = ground.keep(await openStore(target));
});
after(() => ground[Symbol.asyncDispose]());

storeContract(() => ({
  store,
  leftovers: "aborted",
  fill: (keys) => fillBucket(bucket, keys),
  crash: (key) => crashIn({ target, key, bytes: 20 * 1024 * 1024 }),
}));

test("what is sent to AWS has the checksums that buckets with Object Lock demand, in one request and in parts", async () => {
  const endpoint = target.endpoint?.replace("127.0.0.1", awsName) ?? "";
  const aws = ground.keep(await openStore({ ...target, endpoint }));
  for (const bytes of [0, 10, 20 * 1024 * 1024]) {
    const key = `aws/${bytes}`;
    await aws.put(key, made({ bytes }), { mustBeNew: true });
    await fails(aws.put(key, made({ bytes }), { mustBeNew: true }), "exists");
    const object = await aws.get(key);
    assert.ok(object);
    assert.deepEqual(await digest(object.body), await digest(made({ bytes })));
    const client = new S3Client({ endpoint, forcePathStyle: true, region: "us-east-1", credentials: rootKeys });
    const head = await client.send(new HeadObjectCommand({ Bucket: "backups", Key: key, ChecksumMode: "ENABLED" }));
    client.destroy();
    assert.ok(head.ChecksumCRC32, `${key} has no checksum`);
  }
});
