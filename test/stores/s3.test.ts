// S3 on a real server: the contract, with path style and signatures that are checked.
import * as path from "node:path";
import { after, before } from "node:test";
import { rootKeys, startVersitygw } from "../../lab/stores/versitygw.ts";
import { openStore } from "../../src/store/open.ts";
import type { ObjectStore, StoreTarget } from "../../src/store/store.ts";
import { storeContract } from "../../src/store/testing/contract.ts";
import { crashIn, fillBucket, Ground } from "./ground.ts";

let ground: Ground;
let target: StoreTarget;
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
