// Whatever happens in whatever order, workers never run side by side, no run is counted twice, the status says what is in
// the store, and in the end the operator is at rest.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { FailureCode } from "../worker/job.ts";
import { Pod } from "../kube/objects/kinds.ts";
import type { Fortune } from "./testing/fake-workers.ts";
import { key, Stage } from "./testing/stage.ts";

const fails = (code: FailureCode): Fortune => ({
  t: "ends",
  result: { ok: false, code, message: `It failed: ${code}.` },
});

const fortunes = fc.constantFrom<Fortune | undefined>(
  undefined,
  undefined,
  fails("store"),
  fails("damaged"),
  { t: "evicted" },
  { t: "runs" },
  { t: "waits", reason: "ContainerCreating" },
);

type Happening =
  | { readonly t: "pass"; readonly seconds: number }
  | { readonly t: "crash"; readonly seconds: number }
  | { readonly t: "ask"; readonly value: string }
  | { readonly t: "edit"; readonly spec: object }
  | { readonly t: "deletePod" };

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ t: fc.constant("pass" as const), seconds: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ t: fc.constant("crash" as const), seconds: fc.integer({ min: 0, max: 600 }) }),
  fc.record({ t: fc.constant("ask" as const), value: fc.constantFrom("a", "b", "c") }),
  fc.record({
    t: fc.constant("edit" as const),
    spec: fc.constantFrom<object>(
      { backupPolicy: { backupIntervalInSecond: 300, schedule: null } },
      { backupPolicy: { backupIntervalInSecond: 0, schedule: "*/5 * * * *" } },
      { backupPolicy: { backupIntervalInSecond: 0, schedule: null } },
      { backupPolicy: { suspend: true } },
      { backupPolicy: { suspend: false } },
      { verify: { restore: true } },
      { verify: { restore: false } },
      { s3: { path: "bucket" } },
      { s3: { path: "bucket/etcd/backup" } },
    ),
  }),
  fc.constant({ t: "deletePod" as const }),
);

async function happens(stage: Stage, happening: Happening): Promise<void> {
  switch (happening.t) {
    case "pass":
      return await stage.pass(happening.seconds * 1000);
    case "crash":
      await stage.stopOperator();
      await stage.pass(happening.seconds * 1000);
      stage.startOperator();
      return;
    case "ask":
      return await stage.ask(happening.value);
    case "edit":
      return await stage.edit(happening.spec);
    case "deletePod": {
      const [name] = await stage.podNames();
      if (name !== undefined) await stage.api.delete(Pod, { ...key, name });
    }
  }
}

async function assertSound(stage: Stage): Promise<void> {
  const { history = [], lastBackup, succeeded, Reason, conditions = [] } = await stage.status();
  const ids = history.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, "each run is there once");
  assert.ok(stage.workers.most <= 1, "workers never run side by side");
  if (lastBackup !== undefined) assert.ok(stage.workers.stored.has(lastBackup.path.replace("bucket/", "")));
  const last = history[0]?.result;
  if (last !== undefined) assert.equal(succeeded, last === "Succeeded");
  const problem = conditions.find(({ type }) => type === "Problem");
  if (Reason !== undefined) assert.equal(problem?.message, Reason);
}

test("a backup is sound whatever happens, and comes to rest", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fortunes, { maxLength: 12 }),
      fc.array(happenings, { minLength: 3, maxLength: 14 }),
      async (fates, script) => {
        await using stage = new Stage();
        let made = 0;
        stage.workers.fate = () => fates[made++];
        stage.startOperator();
        await stage.create({ backupPolicy: { backupIntervalInSecond: 300 } });
        for (const happening of script) {
          await happens(stage, happening);
          await assertSound(stage);
        }
        // From now on all goes well, and nothing more is asked for.
        stage.workers.fate = () => undefined;
        const calm = { backupIntervalInSecond: 0, schedule: null, suspend: false };
        await stage.edit({ s3: { path: "bucket/etcd/backup" }, backupPolicy: calm });
        for (const name of await stage.podNames()) await stage.api.delete(Pod, { ...key, name });
        await stage.until("rest", async () => {
          const { run, phase } = await stage.status();
          return run === undefined && (phase === "Succeeded" || phase === "Failed");
        });
        await stage.pass(10_000);
        await assertSound(stage);
        const writes = stage.life.writes.length;
        await stage.pass(3_600_000);
        assert.equal(stage.life.writes.length, writes, await stage.describe());
        assert.ok((await stage.podNames()).length <= 1);
      },
    ),
    { numRuns: 20, endOnFailure: true },
  );
});
