import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemberId } from "../../etcd/ids.ts";
import type { MemberStatus } from "../../etcd/member.ts";
import { sampleCluster, sampleId } from "../testing/sample-world.ts";
import { Progress } from "./progress.ts";

const cluster = sampleCluster({});
const [a, b] = [sampleId("a"), sampleId("b")];
const both = [{ id: a }, { id: b }];

/** Only what is read. */
const at = (memberId: MemberId, raftTerm: number, raftIndex: number): MemberStatus =>
  ({ memberId, raftTerm, raftIndex }) as MemberStatus;

test("members that go forwards, or stay where they are, have lost nothing", () => {
  const progress = new Progress();
  progress.note(cluster, [at(a, 2, 10), at(b, 2, 9)], both);
  assert.deepEqual([...progress.note(cluster, [at(a, 2, 10), at(b, 3, 900)], both)], []);
});

test("a member whose index went backwards has lost its data, and has still when it has caught up", () => {
  const progress = new Progress();
  progress.note(cluster, [at(a, 2, 1000), at(b, 2, 1000)], both);
  assert.deepEqual([...progress.note(cluster, [at(a, 2, 4), at(b, 2, 1001)], both)], [a]);
  assert.deepEqual([...progress.note(cluster, [at(a, 3, 1002), at(b, 3, 1002)], both)], [a]);
});

test("a member whose term went backwards has lost its data, however long its log is", () => {
  const progress = new Progress();
  progress.note(cluster, [at(a, 7, 1000)], both);
  assert.deepEqual([...progress.note(cluster, [at(a, 2, 2000)], both)], [a]);
});

test("one that did not answer for a while is compared with what it said before", () => {
  const progress = new Progress();
  progress.note(cluster, [at(a, 2, 1000), at(b, 2, 1000)], both);
  progress.note(cluster, [at(b, 2, 1100)], both);
  assert.deepEqual([...progress.note(cluster, [at(a, 2, 999), at(b, 2, 1100)], both)], [a]);
});

test("one that is off the list is forgotten", () => {
  const progress = new Progress();
  progress.note(cluster, [at(a, 2, 1000)], both);
  progress.note(cluster, [at(a, 2, 4)], both);
  assert.deepEqual([...progress.note(cluster, [at(b, 2, 9)], [{ id: b }])], []);
  assert.deepEqual([...progress.note(cluster, [at(a, 2, 1)], both)], []);
});

test("another EtcdCluster of the same name has nothing to do with the first", () => {
  const progress = new Progress();
  progress.note(cluster, [at(a, 9, 1000)], both);
  const next = { ...cluster, metadata: { ...cluster.metadata, uid: "another" } };
  assert.deepEqual([...progress.note(next, [at(a, 2, 4)], both)], []);
  progress.forget({ namespace: "shop", name: "demo" });
  assert.deepEqual([...progress.note(next, [at(a, 1, 1)], both)], []);
});
