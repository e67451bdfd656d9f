import assert from "node:assert/strict";
import { test } from "node:test";
import { fails, keysOf, storeContract } from "./contract.ts";
import { made } from "./made-body.ts";
import { MemoryStore } from "./memory-store.ts";

const memory = new MemoryStore();
storeContract(() => ({
  store: memory,
  leftovers: "aborted",
  crash: async (key) => void memory.leftovers.push(key),
}));

test("it fails on request, and as often", async () => {
  const store = new MemoryStore();
  store.fail("unavailable", { to: "write", times: 2 });
  await fails(store.put("a", made({ bytes: 1 })), "unavailable");
  assert.deepEqual(await keysOf(store, ""), []);
  await fails(store.put("a", made({ bytes: 1 })), "unavailable");
  await store.put("a", made({ bytes: 1 }));
  store.locked.add("a");
  await fails(store.delete("a"), "locked");
});
