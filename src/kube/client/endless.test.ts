// What an API server, or whatever stands between, sends without end costs a few megabytes and one failed request.
import assert from "node:assert/strict";
import type { ServerHttp2Stream } from "node:http2";
import { describe, test } from "node:test";
import { TransportError } from "../../transport/errors.ts";
import { eventually } from "../../transport/testing/eventually.ts";
import { startServer } from "../../transport/testing/local-server.ts";
import { pour } from "../../transport/testing/pour.ts";
import { Pod } from "../objects/kinds.ts";
import { connectKube } from "./client.ts";
import { ApiError } from "./errors.ts";

const key = { namespace: "a", name: "x" };
const { signal } = new AbortController();

async function startKube(status: number, handler: (stream: ServerHttp2Stream) => void) {
  let closed = 0;
  const server = await startServer((stream) => {
    stream.respond({ ":status": status, "content-type": "application/json" });
    stream.on("close", () => (closed += 1));
    handler(stream);
  });
  const credentials = { server: server.url, tls: () => ({}), authorization: () => undefined, forget: () => undefined };
  const client = connectKube({ credentials });
  return {
    client,
    sent: () => server.sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    closed: () => closed,
    async [Symbol.asyncDispose]() {
      client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

type Kube = Awaited<ReturnType<typeof startKube>>;

const letters = Buffer.alloc(64 << 10, "x");
const manyEvents = Buffer.from('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1"}}}\n');
const watch = { resourceVersion: "1", signal };

describe("without end", () => {
  for (const [what, status, begin, ask] of [
    ["an object", 200, '{"metadata":{"name":"', ({ client }) => client.get(Pod, key)],
    ["a list", 200, '{"metadata":{},"items":["', ({ client }) => client.list(Pod)],
    ["a log", 200, "", ({ client }) => client.log(key, { container: "c", limitBytes: 100 })],
    ["a refusal", 422, "", ({ client }) => client.get(Pod, key)],
    ["the refusal of a watch", 403, "", ({ client }) => client.watch(Pod, watch, () => undefined)],
    ["an event of a watch", 200, '{"type":"ADDED', ({ client }) => client.watch(Pod, watch, () => undefined)],
    [
      "an event after another",
      200,
      `${manyEvents.toString()}{`,
      ({ client }) => client.watch(Pod, watch, () => undefined),
    ],
  ] satisfies [string, number, string, (kube: Kube) => Promise<unknown>][])
    test(`${what} is cut off, once`, async () => {
      await using kube = await startKube(status, (stream) => pour(stream, letters, Buffer.from(begin)));
      await assert.rejects(ask(kube), (error) => {
        assert.ok(error instanceof TransportError, String(error));
        assert.equal(error.failure, "tooLarge", error.message);
        return true;
      });
      await eventually("the stream is closed", () => kube.closed() === 1);
      assert.ok(kube.sent() < 48 << 20, `${kube.sent()} bytes were let through`);
    });
});

test("a watch lives on however many events it brings", async () => {
  const count = 400_000; // 26 MB
  await using kube = await startKube(200, (stream) => {
    for (let n = 0; n < count; n += 1000) stream.write(Buffer.from(manyEvents.toString().repeat(1000)));
    stream.end();
  });
  let events = 0;
  await kube.client.watch(Pod, watch, () => (events += 1));
  assert.equal(events, count);
});

test("a refusal that repeats a value of a megabyte is reported in a few thousand characters", async () => {
  const message = `Pod "x" is invalid: spec: Invalid value: "${"v".repeat(1 << 20)}": no`;
  await using kube = await startKube(422, (stream) =>
    stream.end(JSON.stringify({ kind: "Status", code: 422, reason: "Invalid", message })),
  );
  await assert.rejects(kube.client.get(Pod, key), (error) => {
    assert.ok(error instanceof ApiError);
    assert.ok(error.message.startsWith('Pod "x" is invalid') && error.message.length < 5000);
    return true;
  });
});
