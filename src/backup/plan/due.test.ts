// When runs begin: schedules across changes of the clock, jitter, edits, and what is never run again.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { type EtcdBackupStatus, withDefaults } from "../../api/etcd-backup/etcd-backup.ts";
import { toS3 } from "../testing/stage.ts";
import { dueAt, nextStart, ownStart, startAfter } from "./due.ts";

const created = "2026-01-31T12:00:00Z";
const time = (text: string): number => Date.parse(text);
const text = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().replace(".000", "");

function backup(policy: object, status: EtcdBackupStatus = {}, metadata: object = {}) {
  return withDefaults({
    metadata: {
      name: "nightly",
      namespace: "default",
      uid: "u1",
      generation: 1,
      creationTimestamp: created,
      ...metadata,
    },
    spec: { ...toS3, backupPolicy: policy },
    status,
  });
}

describe("a schedule in a time zone", () => {
  const berlin = { schedule: "30 2 * * *", timeZone: "Europe/Berlin" };
  const series: [what: string, policy: object, from: string, starts: string[]][] = [
    [
      "runs at the first moment after the gap when its time does not exist",
      berlin,
      "2026-03-28T12:00:00Z",
      ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"],
    ],
    [
      "runs once when its time comes twice",
      berlin,
      "2026-10-24T12:00:00Z",
      ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
    ],
    [
      "goes on every hour through both hours when one comes twice",
      { schedule: "0 * * * *", timeZone: "Europe/Berlin" },
      "2026-10-24T23:30:00Z",
      ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"],
    ],
    [
      "goes on every hour across the gap",
      { schedule: "0 * * * *", timeZone: "Europe/Berlin" },
      "2026-03-29T00:30:00Z",
      ["2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"],
    ],
    ["is in UTC without one", { schedule: "@daily" }, created, ["2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z"]],
  ];
  for (const [what, policy, from, starts] of series)
    test(what, () => {
      let now = time(from);
      for (const expected of starts) {
        const start = startAfter(backup(policy), now);
        assert.equal(text(start), expected);
        now = start ?? 0;
      }
    });
});

describe("the next run of a schedule", () => {
  const policy = { schedule: "0 3 * * *" };
  const seen = { observedGeneration: 1 };
  const cases: [what: string, status: EtcdBackupStatus, now: string, at: string, metadata?: object][] = [
    ["counts from the creation", {}, created, "2026-02-01T03:00:00Z"],
    [
      "is the first that was missed when no operator was there from the start",
      {},
      "2026-02-05T12:00:00Z",
      "2026-02-01T03:00:00Z",
    ],
    [
      "is the one that was written down",
      { ...seen, nextRun: "2026-02-01T03:00:00Z" },
      "2026-02-05T12:00:00Z",
      "2026-02-01T03:00:00Z",
    ],
    [
      "is not made up for when the schedule was edited after it",
      { ...seen, nextRun: "2026-02-06T09:00:00Z" },
      "2026-02-05T12:00:00Z",
      "2026-02-06T03:00:00Z",
      { generation: 2 },
    ],
    [
      "is served even if the spec was edited when it was due already",
      { ...seen, nextRun: "2026-02-05T11:00:00Z" },
      "2026-02-05T12:00:00Z",
      "2026-02-05T11:00:00Z",
      { generation: 2 },
    ],
    [
      "is the next one when runs were suspended until now",
      seen,
      "2026-02-05T12:00:00Z",
      "2026-02-06T03:00:00Z",
      { generation: 2 },
    ],
  ];
  for (const [what, status, now, at, metadata] of cases)
    test(what, () => assert.equal(text(ownStart(backup(policy, status, metadata), time(now))?.at), at));
});

describe("an interval", () => {
  const hourly = { backupIntervalInSecond: 3600 };
  const cases: [what: string, status: EtcdBackupStatus, at: string][] = [
    ["begins at once", {}, created],
    ["is measured from the last start", { lastScheduleTime: "2026-01-31T13:00:05Z" }, "2026-01-31T14:00:05Z"],
    [
      "goes on where etcd-operator 0.9 was",
      { succeeded: true, lastSuccessDate: "2026-01-31T13:00:00Z" },
      "2026-01-31T14:00:00Z",
    ],
  ];
  for (const [what, status, at] of cases)
    test(what, () => assert.equal(text(ownStart(backup(hourly, status), time("2026-02-01T00:00:00Z"))?.at), at));
});

describe("a backup that is taken once", () => {
  const now = time("2026-02-01T00:00:00Z");
  const failed: EtcdBackupStatus = {
    phase: "Failed",
    observedGeneration: 1,
    history: [{ id: "a", result: "Failed" }],
    Reason: "no bucket",
  };
  const cases: [what: string, due: boolean, status: EtcdBackupStatus, metadata?: object][] = [
    ["is due when it is new", true, {}],
    ["is not repeated after it succeeded", false, { ...failed, phase: "Succeeded", succeeded: true }],
    [
      "is not repeated after it succeeded, whatever is edited",
      false,
      { ...failed, phase: "Succeeded", succeeded: true },
      { generation: 2 },
    ],
    ["is not repeated after it failed", false, failed],
    ["is tried again when it failed and its spec was edited", true, failed, { generation: 2 }],
    ["of etcd-operator 0.9 that succeeded is never run again", false, { succeeded: true, etcdRevision: 5 }],
    [
      "of etcd-operator 0.9 that failed is never run again",
      false,
      { succeeded: false, Reason: "failed to save snapshot" },
    ],
    ["is due while it waits for its cluster", true, { ...failed, phase: "Pending" }],
  ];
  for (const [what, due, status, metadata] of cases)
    test(what, () => assert.equal(nextStart(backup({}, status, metadata), now) !== undefined, due));
});

describe("on request", () => {
  const annotations = { "etcd.database.coreos.com/backup-now": "monday" };
  const now = time("2026-02-01T00:00:00Z");
  const of = (status: EtcdBackupStatus, policy: object = {}) =>
    nextStart(backup(policy, status, { annotations }), now)?.trigger;

  test("one begins at once, once for each value", () => {
    assert.equal(of({ phase: "Succeeded", succeeded: true }), "Annotation");
    assert.equal(of({ phase: "Succeeded", succeeded: true, handledRequest: "sunday" }), "Annotation");
    assert.equal(of({ phase: "Succeeded", succeeded: true, handledRequest: "monday" }), undefined);
  });

  test("one begins even if the series is suspended", () => {
    assert.equal(of({}, { schedule: "@daily", suspend: true }), "Annotation");
  });
});

describe("jitter", () => {
  const policyOf = (jitterInSecond: number) => ({ schedule: "0 3 * * *", jitterInSecond });

  test("is whole seconds within its bounds, the same whoever asks, and another for another slot", () => {
    const starts = new Set<number>();
    for (let day = 0; day < 20; day += 1) {
      const now = time("2026-02-01T12:00:00Z") + day * 86_400_000;
      const start = startAfter(backup(policyOf(600)), now) ?? 0;
      assert.equal(start, startAfter(backup(policyOf(600)), now + 3_600_000));
      const late = start - (now + 15 * 3_600_000);
      assert.ok(late >= 0 && late <= 600_000 && late % 1000 === 0, String(late));
      starts.add(late);
    }
    assert.ok(starts.size > 10, `${starts.size} different delays`);
  });

  test("does not lose a run when the spec is edited between its slot and its start", () => {
    const start = startAfter(backup(policyOf(600)), time("2026-02-01T12:00:00Z")) ?? 0;
    const stored = { observedGeneration: 1, nextRun: text(start) ?? "" };
    const edited = backup(policyOf(600), stored, { generation: 2 });
    assert.equal(text(ownStart(edited, start - 1)?.at), text(start));
  });

  test("leaves the next start after now, however large it is", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10_000_000 }),
        fc.integer({ min: 0, max: 400 * 86_400 }),
        fc.constantFrom("0 3 * * *", "*/5 * * * *", "@weekly", "30 2 29 2 *"),
        (jitterInSecond, after, schedule) => {
          const now = time(created) + after * 1000;
          const start = startAfter(backup({ schedule, jitterInSecond }), now);
          assert.ok(start !== undefined && start > now);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("the backup that should be the newest by now", () => {
  const daily = { schedule: "0 3 * * *" };
  const succeeded = { lastSuccessDate: "2026-02-02T03:10:00Z", lastScheduleTime: "2026-02-02T03:00:00Z" };
  const next = { nextRun: "2026-02-05T03:00:00Z", observedGeneration: 1 };
  const run = { id: "1", trigger: "Schedule", startedAt: "2026-02-05T03:00:00Z" };
  const table: [what: string, policy: object, status: EtcdBackupStatus, now: string, due: string | undefined][] = [
    ["is the next one while none was missed", daily, { ...succeeded, ...next }, "2026-02-04T12:00:00Z", next.nextRun],
    [
      "is the first one after the last success when later ones failed",
      daily,
      { ...succeeded, ...next, failures: 2 },
      "2026-02-04T12:00:00Z",
      "2026-02-03T03:00:00Z",
    ],
    [
      "is the first one after the last success while one is under way",
      daily,
      { ...succeeded, ...next, run },
      "2026-02-05T03:05:00Z",
      "2026-02-03T03:00:00Z",
    ],
    [
      "is the first of all while none has succeeded",
      daily,
      { ...next, failures: 1 },
      "2026-02-04T12:00:00Z",
      "2026-02-01T03:00:00Z",
    ],
    [
      "is one interval after the last success when later ones failed",
      { backupIntervalInSecond: 600 },
      { ...succeeded, failures: 1 },
      "2026-02-04T12:00:00Z",
      "2026-02-02T03:20:00Z",
    ],
    ["is the only one until it has run", {}, {}, "2026-01-31T13:00:00Z", created],
    [
      "is none when the only one is over",
      {},
      { phase: "Succeeded", succeeded: true, ...succeeded },
      "2026-02-04T12:00:00Z",
      undefined,
    ],
    ["is none while they are suspended", { ...daily, suspend: true }, succeeded, "2026-02-04T12:00:00Z", undefined],
  ];
  for (const [what, policy, status, now, due] of table)
    test(what, () => assert.equal(text(dueAt(backup(policy, status), time(now))), due));
});
