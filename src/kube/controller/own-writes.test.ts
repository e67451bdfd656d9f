import assert from "node:assert/strict";
import { test } from "node:test";
import type { Selection } from "../client/api.ts";
import { ApiError } from "../client/errors.ts";
import { Informer } from "../cache/informer.ts";
import { isSeen, recordingApi, type OwnWrite, wroteObject } from "./own-writes.ts";
import { SimulatedClock } from "../testing/simulated-clock.ts";
import { things, TinyServer } from "../testing/tiny-server.ts";
import { TransportError } from "../../transport/errors.ts";

const a = { namespace: "ns", name: "a" };

/** A cache that has seen everything up to version 101, `held` included, and nothing since. */
async function cacheOf(selection: Selection) {
  const clock = new SimulatedClock();
  const server = new TinyServer(clock);
  server.put("held", 0);
  const stop = new AbortController();
  const informer = new Informer({ api: server.api, kind: things, selection, clock, observe: () => undefined });
  const running = informer.run(stop.signal);
  await clock.advance(0);
  stop.abort();
  await running;
  return informer;
}

const cases: [name: string, selection: Selection, key: { namespace: string; name: string }, awaited: boolean][] = [
  ["of all objects", {}, a, true],
  ["of the object's namespace", { namespace: "ns" }, a, true],
  ["of another namespace", { namespace: "other" }, a, false],
  ["of labels that the object has", { labelSelector: "app=etcd" }, a, true],
  ["of labels that the object does not have", { labelSelector: "app=web" }, a, false],
  ["of fields, which only the server can judge", { fieldSelector: "status.phase=Running" }, a, false],
  ["of labels that an object has just lost", { labelSelector: "app=web" }, { namespace: "ns", name: "held" }, true],
];

for (const [name, selection, key, awaited] of cases) {
  test(`a write is ${awaited ? "awaited in" : "not awaited in"} a cache ${name}`, async () => {
    const cache = await cacheOf(selection);
    const write = wroteObject(things, { metadata: { ...key, resourceVersion: "102", labels: { app: "etcd" } } });
    assert.equal(isSeen(write, [cache]), !awaited);
  });
}

test("a write that the cache holds already is seen, as after an apply that changed nothing", async () => {
  const cache = await cacheOf({});
  assert.ok(isSeen(wroteObject(things, { metadata: { ...a, resourceVersion: "101" } }), [cache]));
});

const answers: [answer: Error, noted: OwnWrite["did"][]][] = [
  [new ApiError(409, "Conflict", "no"), []],
  [new ApiError(422, "Invalid", "no"), []],
  [new ApiError(500, "InternalError", "perhaps"), ["unknown"]],
  [new ApiError(504, "Timeout", "perhaps"), ["unknown"]],
  [new TransportError("unreachable", "no"), []],
  [new TransportError("broken", "perhaps"), ["unknown"]],
  [new TransportError("deadline", "perhaps"), ["unknown"]],
  [new Error("aborted while it was under way"), ["unknown"]],
];

for (const [answer, noted] of answers) {
  const code = answer instanceof ApiError ? answer.code : answer instanceof TransportError ? answer.failure : "abort";
  test(`a write that ends with ${code} ${noted.length === 0 ? "did not happen" : "may have happened"}`, async () => {
    const server = new TinyServer();
    server.refuse = () => answer;
    const writes: OwnWrite[] = [];
    const api = recordingApi(server.api, { signal: new AbortController().signal, note: (write) => writes.push(write) });
    await assert.rejects(api.create(things, { metadata: a }), answer);
    await assert.rejects(api.create(things, { metadata: a }, { dryRun: true }), answer);
    assert.deepEqual(
      writes.map((write) => write.did),
      noted,
    );
  });
}
