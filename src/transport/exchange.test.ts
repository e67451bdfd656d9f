import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import type { Connection } from "./connection.ts";
import { exchange } from "./exchange.ts";
import { Patience } from "./patience.ts";

test("a response does not lose its first bytes when Node tells of them before the headers", async () => {
  // Node does so now and then when both come in one packet, which no server can be made to bring about at will.
  const stream = Object.assign(new PassThrough(), { rstCode: 0, id: 1, close: () => undefined });
  const connection = { open: () => stream, release() {}, isBeyondGoaway: () => false } as unknown as Connection;
  const received: string[] = [];
  const receiver = {
    onHeaders: (status: number) => void received.push(String(status)),
    onData: (chunk: Buffer) => void received.push(chunk.toString()),
  };
  const ended = exchange(connection, { method: "GET", path: "/" }, receiver, new Patience("GET /", {}));
  stream.write("first");
  await new Promise(setImmediate);
  stream.emit("response", { ":status": 200 });
  stream.end("last");
  await ended;
  assert.equal(received.join(" "), "200 first last");
});
