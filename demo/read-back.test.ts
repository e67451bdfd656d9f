// What a restore has to bring back, and what it cannot.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "./read-back.ts";
import { revisionIn } from "./writer.ts";

const write = (n: number) => ({ key: `k${n}`, value: `v${n}`, revision: n });
const written = [1, 2, 3, 4].map(write);
const store = (...revisions: number[]) => new Map(revisions.map((n) => [`k${n}`, `v${n}`]));

test("without a backup every acknowledged write has to be there", () => {
  assert.deepEqual(compare(written, store(1, 2, 3, 4)), {
    kept: { acknowledged: 4, found: 4 },
    later: { acknowledged: 0, found: 0 },
    lost: undefined,
  });
  assert.deepEqual(compare(written, store(1, 2, 4)).lost, write(3));
});

test("after a restore only what came after the revision of the backup may be missing", () => {
  assert.deepEqual(compare(written, store(1, 2, 3), 3), {
    kept: { acknowledged: 3, found: 3 },
    later: { acknowledged: 1, found: 0 },
    lost: undefined,
  });
  assert.deepEqual(compare(written, store(1, 2), 3).lost, write(3));
});

test("another value under the same key is a lost write", () => {
  assert.deepEqual(compare(written, new Map([...store(1, 2, 4), ["k3", "old"]])).lost, write(3));
});

test("the revision of a write is read from what etcdctl prints", () => {
  assert.equal(revisionIn('"ClusterID" : 12\n"MemberID" : 3\n"Revision" : 45\n"RaftTerm" : 2\n'), 45);
  assert.throws(() => revisionIn("OK\n"), /does not say its revision: OK/);
});
