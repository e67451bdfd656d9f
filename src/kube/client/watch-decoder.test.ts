import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { TransportError } from "../../transport/errors.ts";
import type { WatchEvent } from "./api.ts";
import { ApiError } from "./errors.ts";
import type { KubeObject } from "../objects/objects.ts";
import { WatchDecoder } from "./watch-decoder.ts";

function decode(chunks: Buffer[]): { events: WatchEvent<KubeObject>[]; decoder: WatchDecoder<KubeObject> } {
  const events: WatchEvent<KubeObject>[] = [];
  const decoder = new WatchDecoder<KubeObject>((event) => events.push(event));
  for (const chunk of chunks) decoder.push(chunk);
  return { events, decoder };
}

const line = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`);

describe("watch decoder", () => {
  test("gives the same events however the bytes are cut", () => {
    const names = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(names, fc.array(fc.nat(60), { maxLength: 20 }), (names, cuts) => {
        const sent = names.map((name) => ({ type: "ADDED" as const, object: { metadata: { name } } }));
        let rest = Buffer.concat(sent.map(line));
        const chunks: Buffer[] = [];
        for (const cut of cuts) {
          chunks.push(rest.subarray(0, cut));
          rest = rest.subarray(cut);
        }
        const { events, decoder } = decode([...chunks, rest]);
        assert.deepEqual(events, sent);
        assert.equal(decoder.hasRest, false);
      }),
    );
  });

  test("gives of a bookmark only its version", () => {
    const bookmark = { type: "BOOKMARK", object: { kind: "Pod", metadata: { resourceVersion: "7" } } };
    assert.deepEqual(decode([line(bookmark)]).events, [{ type: "BOOKMARK", resourceVersion: "7" }]);
  });

  test("throws an in-band error, after the events before it", () => {
    const seen: string[] = [];
    const decoder = new WatchDecoder<KubeObject>((event) => seen.push(event.type));
    const added = { type: "ADDED", object: {} };
    const error = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old" } };
    assert.throws(
      () => decoder.push(Buffer.concat([line(added), line(error)])),
      (thrown) => thrown instanceof ApiError && thrown.code === 410 && thrown.reason === "Expired",
    );
    assert.deepEqual(seen, ["ADDED"]);
  });

  test("knows when a stream ended in the middle of an event", () => {
    assert.equal(decode([Buffer.from('{"type":"ADD')]).decoder.hasRest, true);
  });

  for (const text of [
    "<html>",
    "[]",
    "{}",
    '{"type":"ADDED"}',
    '{"type":"NEW","object":{}}',
    '{"type":"BOOKMARK","object":{}}',
  ]) {
    test(`takes ${text} for a broken stream`, () => {
      assert.throws(
        () => decode([Buffer.from(`${text}\n`)]),
        (error) => error instanceof TransportError && error.failure === "broken",
      );
    });
  }
});
