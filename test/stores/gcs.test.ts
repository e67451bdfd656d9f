// Google's Cloud Storage on fake-gcs-server: the contract. That server checks no credentials.
import { after, before } from "node:test";
import { startFakeGcs } from "../../lab/stores/fake-gcs.ts";
import { openStore } from "../../src/store/open.ts";
import type { ObjectStore, StoreTarget } from "../../src/store/store.ts";
import { storeContract } from "../../src/store/testing/contract.ts";
import { crashIn, Ground } from "./ground.ts";

let ground: Ground;
let target: StoreTarget;
let store: ObjectStore;

before(async () => {
  ground = await Ground.make();
  const server = ground.keep(await startFakeGcs(await ground.place("gcs"), { buckets: ["backups"] }));
  const secretFolder = await ground.secret("gcs", { "access-token": "a-token\n" });
  target = { type: "GCS", bucket: "backups", endpoint: server.url, secretFolder };
  store = ground.keep(await openStore(target));
});
after(() => ground[Symbol.asyncDispose]());

storeContract(() => ({
  store,
  leftovers: "forgotten",
  crash: (key) => crashIn({ target, key, bytes: 20 * 1024 * 1024 }),
}));
