import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { TransportError } from "../transport/errors.ts";
import { frame, SingleMessage } from "./frames.ts";

const reader = (): SingleMessage => new SingleMessage("Status", 40);

describe("a gRPC answer of one message", () => {
  test("is read from chunks of any size", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 40 }),
        fc.array(fc.integer({ min: 0, max: 17 }), { minLength: 1 }).filter((sizes) => sizes.some((size) => size > 0)),
        (message, sizes) => {
          const wire = frame(message);
          const answer = reader();
          for (let from = 0, turn = 0; from < wire.length; turn += 1) {
            const size = sizes[turn % sizes.length]!;
            answer.push(wire.subarray(from, from + size));
            from += size;
          }
          assert.deepEqual([...answer.whole!], [...message]);
          assert.equal(answer.empty, true);
        },
      ),
    );
  });

  test("is not complete before its last byte", () => {
    const wire = frame(Buffer.from("hello"));
    for (let cut = 1; cut < wire.length; cut += 1) {
      const answer = reader();
      answer.push(wire.subarray(0, cut));
      assert.equal(answer.whole, undefined);
      assert.equal(answer.empty, false, `after ${cut} bytes`);
    }
  });

  for (const [what, wire, failure] of [
    ["that is compressed", Buffer.from([1, 0, 0, 0, 1]), "broken"],
    ["that announces more than is taken", Buffer.from([0, 0, 0, 0, 41]), "tooLarge"],
    ["with a second one behind it", Buffer.concat([frame(Buffer.from("a")), Buffer.from([0])]), "tooLarge"],
    ["that is empty, with a second one behind it", Buffer.alloc(6), "tooLarge"],
  ] as const)
    test(`${what} is refused at the first byte that shows it`, () => {
      const answer = reader();
      answer.push(wire.subarray(0, -1));
      assert.throws(
        () => answer.push(wire.subarray(-1)),
        (error) => error instanceof TransportError && error.failure === failure,
      );
    });
});
