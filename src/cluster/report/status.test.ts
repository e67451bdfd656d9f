import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../assess/assess.ts";
import { crashing, going, starting, three, voter } from "../testing/plan-table.ts";
import { type SampleWorld, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { patchBetween, statusOf } from "./status.ts";

const MiB = 1024 ** 2;

test("an equal status is not written", () => {
  const status = { phase: "Running", members: { ready: ["a"], unready: [] } };
  assert.equal(patchBetween(status, structuredClone(status)), undefined);
});

test("only what differs is written, and what is gone is taken away", () => {
  const before = { phase: "Failed", reason: "lost", size: 3 };
  assert.deepEqual(patchBetween(before, { phase: "Running", size: 3 }), { phase: "Running", reason: null });
});

test("a version that nobody runs any more is taken away: a merge patch would keep it", () => {
  assert.deepEqual(patchBetween({ versions: { "3.5.35": 1, "3.6.16": 2 } }, { versions: { "3.6.16": 3 } }), {
    versions: { "3.5.35": null, "3.6.16": 3 },
  });
  assert.deepEqual(patchBetween({}, { versions: { "3.6.16": 3 } }), { versions: { "3.6.16": 3 } });
});

test("clients that write do not make the operator write", () => {
  const before = { size: 3, dbSize: 100 * MiB, revision: 1 };
  assert.equal(patchBetween(before, { size: 3, dbSize: 120 * MiB, revision: 99 }), undefined);
  assert.equal(patchBetween({ ...before, dbSize: MiB }, { ...before, dbSize: 2 * MiB }), undefined);
});

test("a revision that is so much higher that a restore might not go past it is worth a write", () => {
  const before = { size: 3, revision: 7, highestRevision: 7 };
  const after = (more: number) => ({ size: 3, revision: 7 + more, highestRevision: 7 + more });
  assert.equal(patchBetween(before, after(99_999_999)), undefined);
  assert.deepEqual(patchBetween(before, after(100_000_000)), { revision: 100_000_007, highestRevision: 100_000_007 });
});

test("a database that grew by a quarter and more is worth a write, and everything comes along with another change", () => {
  const before = { size: 3, dbSize: 100 * MiB, revision: 1 };
  const grown = { size: 3, dbSize: 130 * MiB, revision: 99 };
  assert.deepEqual(patchBetween(before, grown), { dbSize: 130 * MiB, revision: 99 });
  assert.deepEqual(patchBetween(before, { ...before, size: 5, revision: 2 }), { size: 5, revision: 2 });
});

test("a database that grew by just a quarter, or by just 16 MiB, is not worth a write yet", () => {
  assert.equal(patchBetween({ dbSize: 100 * MiB }, { dbSize: 125 * MiB }), undefined);
  assert.equal(patchBetween({ dbSize: 32 * MiB }, { dbSize: 48 * MiB }), undefined);
});

const done = { did: [], decision: { actions: [], because: "a test" }, obstacle: undefined, passed: [] };

test("what nobody can see now stays as it was", () => {
  const before = { versions: { "3.6.16": 3 }, currentVersion: "3.6.16", targetVersion: "", size: 3, dbSize: 7 };
  const world = sampleWorld({ etcd: "silent", version: "3.6.17", members: three, status: before });
  assert.partialDeepStrictEqual(statusOf(assess(world, sampleNow), done), before);
});

test("the highest revision stays when that of etcd falls, and grows with it", () => {
  const told = (highestRevision: number): number | undefined =>
    statusOf(assess(sampleWorld({ members: three, status: { highestRevision } }), sampleNow), done).highestRevision;
  const { revision = 0 } = statusOf(assess(sampleWorld({ members: three }), sampleNow), done);
  assert.deepEqual([told(revision + 5), told(0)], [revision + 5, revision]);
});

test("versions are counted, and the one that is wanted is told until all members run it", () => {
  const told = (...versions: string[]) => {
    const members = ["a", "b", "c"].map((letter, n) => voter(letter, { version: versions[n] ?? "3.6.16" }));
    const {
      versions: counted,
      currentVersion,
      targetVersion,
    } = statusOf(assess(sampleWorld({ members }), sampleNow), done);
    return [counted, currentVersion, targetVersion];
  };
  assert.deepEqual(told(), [{ "3.6.16": 3 }, "3.6.16", ""]);
  assert.deepEqual(told("3.6.11", "3.6.11", "3.6.11"), [{ "3.6.11": 3 }, "3.6.11", "3.6.16"]);
  assert.deepEqual(told("3.6.11"), [{ "3.6.11": 1, "3.6.16": 2 }, "", "3.6.16"]);
});

test("a pod is listed by its readiness while its etcd runs or is started again, and not when it starts or goes", () => {
  const members = [
    voter("a"),
    voter("b", { pod: { ready: false } }),
    voter("c", { pod: { ...crashing(1000), ready: false } }),
    voter("d", { pod: { ...starting, ready: false } }),
    voter("e", { pod: going }),
  ];
  assert.deepEqual(statusOf(assess(sampleWorld({ size: 5, members }), sampleNow), done).members, {
    ready: ["demo-a"],
    unready: ["demo-b", "demo-c"],
  });
});

const statusIn = (sample: SampleWorld) => statusOf(assess(sampleWorld(sample), sampleNow), done);

test("the size and the revision of the database are those of the member that is furthest", () => {
  const says = [
    { dbSize: 3, revision: 1 },
    { dbSize: 9, revision: 2 },
    { dbSize: 4, revision: 7 },
  ];
  const members = says.map((one, n) => voter("abc"[n] ?? "", { says: one }));
  assert.partialDeepStrictEqual(statusIn({ members }), { dbSize: 9, revision: 7 });
});

test("the leader is told by its name", () => {
  assert.equal(statusIn({ members: three, leader: "b" }).leader, "demo-b");
  assert.equal(statusIn({ members: three, leader: "z" }).leader, undefined);
});

test("a cluster that begins is being created, unless its spec has never been valid", () => {
  const begins: SampleWorld = { etcd: "nobody", unrecorded: true, status: { phase: "" } };
  assert.equal(statusIn(begins).phase, "Creating");
  assert.equal(statusIn({ ...begins, change: { problems: ["Mend it."] } }).phase, "");
});

test("a raft log counts as that of the oldest version that a member has run since", () => {
  const log = (sample: SampleWorld, raftLogVersion = "3.6") =>
    statusIn({ ...sample, status: { raftLogVersion } }).raftLogVersion;
  const older = three.map((member) => ({ ...member, version: "3.5.35" }));
  assert.equal(log({ members: three }), "3.6");
  assert.equal(log({ members: older }), "3.5");
  assert.equal(log({ members: three }, "3.5"), "3.5");
  assert.equal(log({ etcd: "noQuorum", members: older }), "3.6");
});

test("clients are told the scheme that each member speaks, whatever the spec says by now", () => {
  const spoken: Readonly<Record<string, boolean>> = { a: true, b: false };
  const world = sampleWorld({ members: three });
  const pods = world.pods.map((pod) => ({
    ...pod,
    tls: { ...pod.tls, client: spoken[pod.name.slice(-1)] === true },
  }));
  const { clientEndpoints } = statusOf(assess({ ...world, pods }, sampleNow), done);
  const schemes = clientEndpoints?.map((url) => `${/demo-(.)/.exec(url)?.[1]} ${url.split(":")[0]}`);
  assert.deepEqual(schemes?.toSorted(), ["a https", "b http", "c http"]);
});
