import assert from "node:assert/strict";
import { test } from "node:test";
import { Informer } from "../cache/informer.ts";
import type { ObjectMeta } from "../objects/objects.ts";
import { SimulatedClock } from "../testing/simulated-clock.ts";
import { from, userEditsFirst, toController, type SourceOptions } from "./source.ts";
import { TinyServer, things, type Thing } from "../testing/tiny-server.ts";

async function sourcing(options: SourceOptions<Thing>, happen: (server: TinyServer) => void): Promise<string[]> {
  const clock = new SimulatedClock();
  const server = new TinyServer(clock);
  server.put("first", 0);
  const informer = new Informer({ api: server.api, kind: things, clock, observe: () => undefined });
  const keys: string[] = [];
  const unsubscribe = from(informer, options).subscribe((key, priority) => keys.push(`${key} ${priority}`));
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await clock.advance(0);
  happen(server);
  unsubscribe();
  server.put("after the end", 1);
  stop.abort();
  await running;
  return keys;
}

test("what was there at the start is less urgent than what happens", async () => {
  const keys = await sourcing({}, (server) => server.put("second", 0));
  assert.deepEqual(keys, ["ns/first low", "ns/second normal"]);
});

test("what a person did comes first, what a controller wrote into the status does not", async () => {
  const keys = await sourcing({ priority: userEditsFirst }, (server) => {
    server.put("second", 0, { generation: 1 });
    server.put("second", 1, { generation: 2 });
    server.put("second", 1, {});
    server.put("second", 1, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    server.remove("second");
  });
  assert.deepEqual(keys.slice(1), [
    "ns/second high",
    "ns/second high",
    "ns/second normal",
    "ns/second high",
    "ns/second high",
  ]);
});

test("an object that changed hands concerns the old and the new owner", async () => {
  const owned = (name: string): ObjectMeta => ({
    ownerReferences: [{ apiVersion: "test.invalid/v1", kind: "Thing", name, uid: name, controller: true }],
  });
  const keys = await sourcing({ toKeys: toController(things) }, (server) => {
    server.put("child", 0, owned("one"));
    server.put("child", 0, owned("two"));
  });
  assert.deepEqual(keys, ["ns/one normal", "ns/two normal", "ns/one normal"]);
});

test("only the controlling owner of the right kind and group is asked for", () => {
  const reference = { apiVersion: "test.invalid/v1", kind: "Thing", name: "one", uid: "1", controller: true };
  const keys = (change: object): string[] =>
    toController(things)({ metadata: { namespace: "ns", name: "x", ownerReferences: [{ ...reference, ...change }] } });
  assert.deepEqual(keys({}), ["ns/one"]);
  assert.deepEqual(keys({ apiVersion: "test.invalid/v2" }), ["ns/one"]);
  assert.deepEqual(keys({ controller: false }), []);
  assert.deepEqual(keys({ kind: "Other" }), []);
  assert.deepEqual(keys({ apiVersion: "v1" }), []);
});

test("changes that the filter drops bring no key", async () => {
  const keys = await sourcing({ filter: (change) => change.type === "deleted" }, (server) => {
    server.put("first", 1);
    server.remove("first");
  });
  assert.deepEqual(keys, ["ns/first normal"]);
});
