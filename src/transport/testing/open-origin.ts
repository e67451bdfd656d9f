// What tests of the transport share: an origin that remembers its events, and a check for the way a request failed.
import assert from "node:assert/strict";
import type { ServerHttp2Stream } from "node:http2";
import { TransportError, type TransportFailure } from "../errors.ts";
import type { TransportEvent } from "../events.ts";
import { Http2Origin, type OriginOptions } from "../origin.ts";

export function openOrigin(url: string, options: OriginOptions = {}) {
  const events: TransportEvent[] = [];
  const origin = new Http2Origin(url, { ...options, observe: (event) => events.push(event) });
  return {
    origin,
    events,
    seen: (type: TransportEvent["type"]) => events.filter((event) => event.type === type),
    [Symbol.dispose]: () => origin.close(),
  };
}

export const get = (path: string, deadline = 30_000) => ({ method: "GET", path, deadline });

export const failsWith = (failure: TransportFailure) => (error: unknown) => {
  assert.ok(error instanceof TransportError, `not a TransportError: ${String(error)}`);
  assert.equal(error.failure, failure, error.message);
  return true;
};

/** Sends back what it got. */
export function echo(stream: ServerHttp2Stream): void {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("end", () => {
    stream.respond({ ":status": 200 });
    stream.end(Buffer.concat(chunks));
  });
}
