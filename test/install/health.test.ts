// The health checks for Argo CD and Flux, and the conditions that Helm waits by, judged by the own code of those programs:
// every state that our objects can be in, and what is said of it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { parse } from "yaml";
import { conditionTypes } from "../../src/api/conditions.ts";
import { phases as backupPhases } from "../../src/api/etcd-backup/status.ts";
import { phases as restorePhases } from "../../src/api/etcd-restore/status.ts";
import type { ConditionStatus } from "../../src/kube/objects/conditions.ts";
import { kstatusOf } from "../../src/kube/testing/kstatus.ts";
import { root } from "../suites.ts";
import { backupStates } from "./health/backups.ts";
import { clusterStates, reported } from "./health/clusters.ts";
import { judge, kinds, scriptOf } from "./health/judges.ts";
import { restoreStates } from "./health/restores.ts";
import { apiVersion, type Judged, type State } from "./health/state.ts";

const states = { EtcdCluster: clusterStates, EtcdBackup: backupStates, EtcdRestore: restoreStates } as const;

interface Reported {
  readonly phase?: string;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: ConditionStatus;
    readonly reason?: string;
  }[];
}
const statusIn = ({ status }: Judged): Reported => status ?? {};
const conditionIn = (object: Judged, type: string) =>
  statusIn(object).conditions?.find((condition) => condition.type === type);
const all = (found: readonly (string | undefined)[]): string[] =>
  [...new Set(found.filter((one) => one !== undefined))].toSorted();

for (const kind of kinds)
  describe(`an ${kind}`, async () => {
    const table: readonly State[] = states[kind];
    const verdicts = await judge(table.map(({ object }) => object));
    for (const [index, { what, object, expected }] of table.entries())
      test(`${what} is ${expected.join(", ")} to kstatus, Flux and Argo CD`, () => {
        const { kstatus, flux, argo } = verdicts[index]!;
        assert.deepEqual([kstatus.status, flux.status, argo.status], expected, JSON.stringify([object, flux, argo]));
        assert.equal(kstatusOf(object), kstatus.status);
      });

    test("has a message in every state that the operator has reported", () => {
      const silent = table.filter((_, index) => verdicts[index]?.argo.message === "").map(({ what }) => what);
      assert.deepEqual(silent, []);
    });
  });

describe("the tables leave nothing out:", () => {
  test("each cluster is in the state that it stands for, and every reason is there", () => {
    for (const { object, reason } of reported) assert.equal(conditionIn(object, "Ready")?.reason, reason);
    const { True, False } = conditionTypes.EtcdCluster.Ready.reasons;
    assert.deepEqual(all(reported.map(({ reason }) => reason)), all(Object.keys({ ...True, ...False })));
  });

  test("backups in every phase, with all that can be wrong", () => {
    assert.deepEqual(all(backupStates.map(({ object }) => statusIn(object).phase)), all(backupPhases));
    const wrong = backupStates.map(({ object }) => conditionIn(object, "Problem")?.reason);
    const { True, False } = conditionTypes.EtcdBackup.Problem.reasons;
    assert.deepEqual(all(wrong), all(Object.keys({ ...True, ...False })));
  });

  test("restores in every phase", () => {
    assert.deepEqual(all(restoreStates.map(({ object }) => statusIn(object).phase)), all(restorePhases));
  });
});

const condition = fc.record({
  type: fc.constantFrom("Ready", "Reconciling", "Stalled", "Available"),
  status: fc.constantFrom<ConditionStatus>("True", "False", "Unknown"),
});
const anything = fc.record({
  metadata: fc.record(
    { generation: fc.integer({ min: 0, max: 3 }), deletionTimestamp: fc.constant("2026-01-31T12:00:00Z") },
    { requiredKeys: [] },
  ),
  status: fc.record(
    { observedGeneration: fc.integer({ min: -1, max: 3 }), conditions: fc.array(condition, { maxLength: 6 }) },
    { requiredKeys: [] },
  ),
});

test("our own kstatus, which unit tests use, says what the real one does, whatever the conditions and generations", async () => {
  await fc.assert(
    // Many objects a run, and no shrinking: each run starts the program, and the objects are small.
    fc.asyncProperty(fc.array(anything, { minLength: 400, maxLength: 500 }), async (objects) => {
      const verdicts = await judge(objects.map((object) => ({ apiVersion, kind: "EtcdCluster", ...object })));
      for (const [index, object] of objects.entries())
        assert.equal(kstatusOf(object), verdicts[index]?.kstatus.status, JSON.stringify(object));
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

test("the ConfigMap of Argo CD gets the scripts that were judged", async () => {
  const { data } = parse(await readFile(path.join(root, "install/argocd/argocd-cm.yaml"), "utf8")) as {
    data: Record<string, string>;
  };
  for (const kind of kinds)
    assert.equal(data[`resource.customizations.health.etcd.database.coreos.com_${kind}`], await scriptOf(kind));
  assert.equal(Object.keys(data).length, kinds.length);
});
