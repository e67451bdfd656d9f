import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { TransportError } from "../transport/errors.ts";
import { frame, FrameReader } from "./frames.ts";

describe("gRPC frames", () => {
  test("are read back from chunks of any size", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 17 }), { minLength: 1 }),
        (messages, sizes) => {
          const wire = Buffer.concat(messages.map(frame));
          const reader = new FrameReader();
          const out: Buffer[] = [];
          for (let from = 0, turn = 0; from < wire.length; turn += 1) {
            const size = sizes[turn % sizes.length]!;
            reader.push(wire.subarray(from, from + size));
            from += size;
            for (let message = reader.next(); message; message = reader.next()) out.push(message);
          }
          assert.deepEqual(
            out.map((message) => [...message]),
            messages.map((message) => [...message]),
          );
          assert.equal(reader.empty, true);
        },
      ),
    );
  });

  test("are not complete before their last byte", () => {
    const wire = frame(Buffer.from("hello"));
    for (let cut = 1; cut < wire.length; cut += 1) {
      const reader = new FrameReader();
      reader.push(wire.subarray(0, cut));
      assert.equal(reader.next(), undefined);
      assert.equal(reader.empty, false, `after ${cut} bytes`);
    }
  });

  test("that are compressed, or longer than anything etcd sends, are refused", () => {
    for (const head of [Buffer.from([1, 0, 0, 0, 1]), Buffer.from([0, 255, 255, 255, 255])]) {
      const reader = new FrameReader();
      reader.push(head);
      assert.throws(() => reader.next(), TransportError);
    }
  });
});
