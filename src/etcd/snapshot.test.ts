import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { TransportError } from "../transport/errors.ts";
import { SnapshotCheck } from "./snapshot.ts";

/** As etcd sends it: the database in pieces that count down, then the digest with nothing remaining. */
function send(database: Buffer, pieceSize: number, digest: Buffer): SnapshotCheck {
  const check = new SnapshotCheck();
  for (let from = 0; from < database.length; from += pieceSize) {
    const piece = database.subarray(from, from + pieceSize);
    const bytes = from + piece.length;
    check.add(piece);
    check.announce({ bytes, remaining: database.length - bytes });
  }
  check.add(digest);
  check.announce({ bytes: database.length + digest.length, remaining: 0 });
  return check;
}
const digestOf = (database: Buffer): Buffer => createHash("sha256").update(database).digest();

describe("a snapshot", () => {
  test("passes in chunks of any size", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 600 }), (pages, pieceSize) => {
        const database = Buffer.alloc(pages * 512, "page of data");
        const { bytes, sha256 } = send(database, pieceSize, digestOf(database)).finish();
        assert.equal(bytes, database.length + 32);
        const whole = Buffer.concat([database, digestOf(database)]);
        assert.equal(sha256, digestOf(whole).toString("hex"));
      }),
    );
  });

  const database = Buffer.alloc(2048, "x");
  const cases: readonly (readonly [string, SnapshotCheck])[] = [
    ["with a wrong digest", send(database, 512, digestOf(Buffer.from("other")))],
    ["with a changed byte", send(Buffer.concat([Buffer.from("y"), database.subarray(1)]), 512, digestOf(database))],
    ["without a digest", send(database, 512, Buffer.alloc(0))],
    ["of nothing", new SnapshotCheck()],
  ];
  for (const [what, check] of cases)
    test(`${what} is refused`, () => {
      assert.throws(() => check.finish(), TransportError);
    });

  test("that goes on after its announced end is refused there, and not after its last byte", () => {
    const check = new SnapshotCheck();
    check.add(database);
    check.announce({ bytes: database.length, remaining: 0 });
    check.add(digestOf(database));
    assert.throws(() => check.add(Buffer.alloc(1)), /longer than the 2048 bytes/);
  });

  test("that broke off is refused, even when the received part is consistent", () => {
    const check = new SnapshotCheck();
    check.add(database.subarray(0, 1024));
    check.announce({ bytes: 1024, remaining: 1024 });
    check.add(digestOf(database.subarray(0, 1024)));
    assert.throws(() => check.finish(), /incomplete/);
  });
});
