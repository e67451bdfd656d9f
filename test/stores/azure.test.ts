// Azure's blobs on Azurite: the contract, with a shared key that is checked.
import { after, before } from "node:test";
import { ContainerClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { azuriteAccount, azuriteKey, startAzurite } from "../../lab/stores/azurite.ts";
import { openStore } from "../../src/store/open.ts";
import type { ObjectStore, StoreTarget } from "../../src/store/store.ts";
import { storeContract } from "../../src/store/testing/contract.ts";
import { isMatrix } from "../support/matrix.ts";
import { crashIn, Ground } from "./ground.ts";

let ground: Ground;
let target: StoreTarget;
let store: ObjectStore;

before(async () => {
  ground = await Ground.make();
  const server = ground.keep(await startAzurite(await ground.place("abs")));
  const key = new StorageSharedKeyCredential(azuriteAccount, azuriteKey);
  await new ContainerClient(`${server.url}/${azuriteAccount}/backups`, key).create();
  const secretFolder = await ground.secret("abs", { "storage-account": azuriteAccount, "storage-key": azuriteKey });
  target = { type: "ABS", container: "backups", endpoint: server.url, secretFolder };
  store = ground.keep(await openStore(target));
});
after(() => ground[Symbol.asyncDispose]());

storeContract(
  () => ({
    store,
    leftovers: "forgotten",
    crash: (key) => crashIn({ target, key, bytes: 20 * 1024 * 1024 }),
  }),
  { pages: isMatrix },
);
