import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterId, memberId } from "../../etcd/ids.ts";
import type { MemberStatus } from "../../etcd/member.ts";
import { WorkerFailure } from "../program/failure.ts";
import { rank } from "./best-member.ts";

const leader = memberId(1n);

function answer(id: bigint, parts: Partial<MemberStatus> = {}): { id: bigint; status: MemberStatus } {
  const status: MemberStatus = {
    clusterId: clusterId(7n),
    memberId: memberId(id),
    version: "3.6.16",
    learner: false,
    leader,
    revision: 100,
    raftTerm: 2,
    raftIndex: 500,
    raftAppliedIndex: 500,
    dbSize: 1,
    dbSizeInUse: 1,
    dbSizeQuota: undefined,
    storageVersion: "3.6.0",
    downgrade: undefined,
    alarms: [],
    ...parts,
  };
  return { id, status };
}

const ranked = (...answers: ReturnType<typeof answer>[]): bigint[] => rank(answers).map(({ id }) => id);
const failsWith = (code: WorkerFailure["code"]) => (error: unknown) =>
  error instanceof WorkerFailure && error.code === code;

test("of members that have the same, a follower is taken", () => {
  assert.deepEqual(ranked(answer(1n), answer(2n), answer(3n)), [2n, 3n, 1n]);
});

test("a member that has more goes first, though it leads", () => {
  assert.deepEqual(ranked(answer(2n, { revision: 99 }), answer(1n)), [1n, 2n]);
  assert.deepEqual(ranked(answer(2n, { raftAppliedIndex: 499 }), answer(1n)), [1n, 2n]);
  assert.deepEqual(ranked(answer(2n, { revision: 9 }), answer(3n, { revision: 10 })), [3n, 2n]);
});

test("a server that does not say what it has applied counts by its log", () => {
  const old = { raftAppliedIndex: undefined };
  assert.deepEqual(ranked(answer(2n, { ...old, raftIndex: 499 }), answer(3n, old)), [3n, 2n]);
});

test("a learner is taken only if there is nobody else", () => {
  assert.deepEqual(ranked(answer(3n, { learner: true, revision: 101 }), answer(1n)), [1n, 3n]);
  assert.deepEqual(ranked(answer(3n, { learner: true })), [3n]);
});

test("a member whose data is corrupt is not taken; alarms of others do not matter", () => {
  const corrupt = { member: memberId(2n), type: "corrupt" } as const;
  assert.deepEqual(ranked(answer(2n, { alarms: [corrupt] }), answer(1n, { alarms: [corrupt] })), [1n]);
  assert.throws(() => ranked(answer(2n, { alarms: [corrupt] })), failsWith("etcd"));
  assert.deepEqual(ranked(answer(2n, { alarms: [{ member: memberId(2n), type: "noSpace" }] })), [2n]);
});

test("endpoints of different clusters are refused", () => {
  assert.throws(() => ranked(answer(1n), answer(2n, { clusterId: clusterId(8n) })), failsWith("misconfigured"));
});
