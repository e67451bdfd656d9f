import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { TransportError } from "../transport/errors.ts";
import { frame } from "./frames.ts";
import { SnapshotResponseSchema } from "./gen/etcdserverpb/rpc_pb.ts";
import { SnapshotMessages, type SnapshotSays } from "./snapshot-messages.ts";

interface Said {
  readonly blob: Uint8Array;
  readonly remaining: bigint;
  readonly version: string;
}

/** As protobuf writes it, with a header, which is not read. */
const message = ({ blob, remaining, version }: Said): Buffer =>
  frame(
    toBinary(
      SnapshotResponseSchema,
      create(SnapshotResponseSchema, {
        header: { clusterId: 2n ** 63n, memberId: 7n, revision: 300n, raftTerm: 2n },
        blob,
        remainingBytes: remaining,
        version,
      }),
    ),
  );

async function read(bytes: Uint8Array, chunkSize: number, later = false) {
  const pieces: Uint8Array[] = [];
  const says: SnapshotSays[] = [];
  const messages = new SnapshotMessages({
    onPiece(piece) {
      pieces.push(Uint8Array.from(piece));
      return later ? Promise.resolve() : undefined;
    },
    onMessage: (said) => void says.push(said),
  });
  for (let at = 0; at < bytes.length; at += chunkSize) await messages.push(bytes.subarray(at, at + chunkSize));
  return { database: Buffer.concat(pieces), says, empty: messages.empty };
}

const said = fc.record({
  blob: fc.uint8Array({ maxLength: 300 }),
  remaining: fc.bigInt({ min: 0n, max: 2n ** 50n }),
  version: fc.constantFrom("", "3.6.0"),
});

describe("messages of a snapshot", () => {
  test("are read as protobuf wrote them, in chunks of any size", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(said, { maxLength: 5 }),
        fc.integer({ min: 1, max: 700 }),
        fc.boolean(),
        async (all, size, later) => {
          const { database, says, empty } = await read(Buffer.concat(all.map(message)), size, later);
          assert.deepEqual(database, Buffer.concat(all.map(({ blob }) => blob)));
          let bytes = 0;
          const expected = all.map(({ blob, remaining, version }) => {
            bytes += blob.length;
            return { bytes, remaining: Number(remaining), version };
          });
          assert.deepEqual(says, expected);
          assert.ok(empty);
        },
      ),
    );
  });

  test("may have fields that nobody knows yet", async () => {
    const known = Buffer.from([0x1a, 2, 7, 8, 0x10, 5]); // the blob, then how much remains
    const unknown = [
      Buffer.from([0xf8, 0x01, 0xff, 0x01]), // 31, a number
      Buffer.from([0xf9, 0x01, 1, 2, 3, 4, 5, 6, 7, 8]), // 31, eight bytes
      Buffer.from([0xfd, 0x01, 1, 2, 3, 4]), // 31, four bytes
      Buffer.from([0xfa, 0x01, 3, 9, 9, 9]), // 31, any bytes
      Buffer.from([0xfa, 0x01, 0]), // 31, none
    ];
    for (const other of unknown) {
      const { database, says } = await read(frame(Buffer.concat([other, known, other])), 3);
      assert.deepEqual([...database], [7, 8]);
      assert.deepEqual(says, [{ bytes: 2, remaining: 5, version: "" }]);
    }
  });

  test("that break off are known as such", async () => {
    const whole = message({ blob: Buffer.alloc(40, "x"), remaining: 5n, version: "3.6.0" });
    for (let length = 1; length < whole.length; length += 1)
      assert.equal((await read(whole.subarray(0, length), 16)).empty, false, `${length} of ${whole.length} bytes`);
  });

  const cases: readonly (readonly [string, Buffer])[] = [
    ["whose field is longer than they are", frame(Buffer.from([0x1a, 5, 1, 2]))],
    ["whose field ends in the next one", frame(Buffer.from([0x10, 0x80]))],
    ["whose fixed field is longer than they are", frame(Buffer.from([0xf9, 0x01, 1]))],
    ["with a group", frame(Buffer.from([0x1b, 0x1c]))],
    ["with an endless number", frame(Buffer.alloc(30, 0xff))],
    ["that are compressed", Buffer.from([1, 0, 0, 0, 2, 1, 2])],
    ["of a length that nobody sends", Buffer.from([0, 0xff, 0xff, 0xff, 0xff])],
  ];
  for (const [what, bytes] of cases)
    test(`${what} are refused`, async () => {
      const next = message({ blob: Buffer.alloc(8), remaining: 0n, version: "" });
      await assert.rejects(read(Buffer.concat([bytes, next]), 1), TransportError);
    });
});
