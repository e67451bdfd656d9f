// How much memory an upload takes, in a process of its own: the same for a large object as for a small one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { rootKeys, startVersitygw } from "../../lab/stores/versitygw.ts";
import { openStore } from "../../src/store/open.ts";
import type { StoreTarget } from "../../src/store/store.ts";
import { digest, made } from "../../src/store/testing/made-body.ts";
import { isMatrix } from "../support/matrix.ts";
import { Ground, uploadBundled } from "./ground.ts";

const MiB = 1024 * 1024;
const mostMemory = 150_000_000;
const bytes = isMatrix ? 2048 * MiB : 64 * MiB;

let ground: Ground;
let target: StoreTarget;

before(async () => {
  ground = await Ground.make();
  const server = ground.keep(await startVersitygw(await ground.place("s3"), { buckets: ["backups"] }));
  const secretFolder = await ground.awsSecret("aws", rootKeys);
  target = { type: "S3", bucket: "backups", endpoint: server.url, forcePathStyle: true, secretFolder };
});
after(() => ground[Symbol.asyncDispose]());

test(`${bytes / MiB} MiB to S3 take at most ${mostMemory / 1e6} MB, and come back as they were`, async (t) => {
  const peak = await uploadBundled(ground, { target, key: "large/a", bytes });
  t.diagnostic(`peak ${(peak / 1e6).toFixed(1)} MB`);
  assert.ok(peak <= mostMemory, `${(peak / 1e6).toFixed(1)} MB`);
  const store = ground.keep(await openStore(target));
  const object = await store.get("large/a");
  assert.ok(object);
  assert.deepEqual(await digest(object.body), await digest(made({ bytes })));
});
