// Operators that are killed right after every write, or every second or third one. Each starts from what the last one left,
// and the cluster ends in the same state as under an undisturbed operator, with as many pods created and members added.
// (src/cluster/crashes.test.ts tries each single crash in memory.)
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { onVolumes } from "../e2e-volumes/support/volumes.ts";
import { root } from "../suites.ts";
import { kubectl } from "../support/kubectl.ts";
import { type Row, rowsOf } from "../support/matrix.ts";
import { run, type Scenario, type ScenarioResult, type StepResult } from "./crashes/run.ts";
import { oneByOne, onTheirVolumes, rolled, rotated, securedOnVolumes, together } from "./crashes/scenarios.ts";

interface Subject {
  readonly scenario: Scenario;
  /** The prefix of the names of its clusters. */
  readonly prefix: string;
  readonly lead: string;
  /** How many pods are made depends on the moment; src/cluster/crashes.test.ts counts them. */
  readonly writes?: "vary";
  readonly each: readonly Crashes[];
}

interface Crashes extends Row {
  /** Writes of each operator. */
  readonly changes: number;
  readonly after: string;
  /** Operators that must have been killed for the test to prove anything. */
  readonly fewest: number;
}

const subjects: readonly Subject[] = [
  {
    scenario: oneByOne,
    prefix: "",
    lead: "",
    each: [
      { changes: 1, after: "every write", fewest: 20, onlyInMatrix: true },
      { changes: 2, after: "every second write", fewest: 10, onlyInMatrix: true },
      { changes: 5, after: "every fifth write", fewest: 4 },
    ],
  },
  {
    scenario: together,
    prefix: "together-",
    lead: "while members join together, ",
    // One that fell too far behind while its machine was busy is replaced.
    writes: "vary",
    each: [
      { changes: 1, after: "every write", fewest: 15, onlyInMatrix: true },
      { changes: 2, after: "every second write", fewest: 7, onlyInMatrix: true },
      { changes: 5, after: "every fifth write", fewest: 3, onlyInMatrix: true },
    ],
  },
  {
    scenario: rolled({ version: "3.5.35" }, { version: "3.6.16" }),
    prefix: "upgrade-",
    lead: "during an upgrade, ",
    each: [
      { changes: 1, after: "every write", fewest: 20, onlyInMatrix: true },
      { changes: 5, after: "every fifth write", fewest: 4, onlyInMatrix: true },
    ],
  },
  {
    scenario: rolled({}, { etcd: { snapshotCount: 5_000 } }),
    prefix: "configuration-",
    lead: "while members are replaced for a setting, ",
    each: [
      { changes: 1, after: "every write", fewest: 20, onlyInMatrix: true },
      { changes: 3, after: "every third write", fewest: 6, onlyInMatrix: true },
    ],
  },
  {
    scenario: onTheirVolumes,
    prefix: "volumes-",
    lead: "with volumes, ",
    each: [
      { changes: 1, after: "every write", fewest: 15, onlyInMatrix: true },
      { changes: 2, after: "every second write", fewest: 8, onlyInMatrix: true },
    ],
  },
  {
    scenario: securedOnVolumes,
    prefix: "secured-",
    lead: "with volumes and certificates that are made, ",
    each: [
      { changes: 1, after: "every write", fewest: 20, onlyInMatrix: true },
      { changes: 5, after: "every fifth write", fewest: 5 },
    ],
  },
  {
    scenario: rotated({}),
    prefix: "rotation-",
    lead: "while CAs are replaced, ",
    writes: "vary",
    each: [{ changes: 1, after: "every write", fewest: 40, onlyInMatrix: true }],
  },
  {
    scenario: rotated({ pod: onVolumes("1Gi") }),
    prefix: "rotation-volumes-",
    lead: "while CAs of members with volumes are replaced, ",
    writes: "vary",
    each: [{ changes: 1, after: "every write", fewest: 40, onlyInMatrix: true }],
  },
];

describe("crashing operators", { concurrency: 3 }, () => {
  before(async () => {
    await kubectl("apply", "--server-side", "--filename", `${root}/example/crd/etcdcluster.yaml`);
    await kubectl("wait", "--for=condition=Established", "crd/etcdclusters.etcd.database.coreos.com", "--timeout=60s");
  });

  for (const { scenario, prefix, lead, writes, each } of subjects) {
    let undisturbedRun: Promise<ScenarioResult> | undefined;
    const undisturbed = (): Promise<ScenarioResult> =>
      (undisturbedRun ??= run(scenario, `${prefix}calm`, Number.POSITIVE_INFINITY));
    for (const { changes, after, fewest } of rowsOf(each))
      test(`${lead}operators that crash after ${after} reach the same state as an undisturbed one, and lose nothing`, async (t) => {
        const disturbed = run(scenario, `${prefix}killed-${changes}`, changes);
        const [expected, { steps, crashes }] = await Promise.all([undisturbed(), disturbed]);
        t.diagnostic(`${crashes} operators were killed`);
        assert.equal(expected.crashes, 0);
        assert.ok(crashes >= fewest, `only ${crashes} operators were killed`);
        const compared = (all: readonly StepResult[]): readonly object[] =>
          writes === "vary" ? all.map(({ step, state }) => ({ step, state })) : all;
        assert.deepEqual(compared(steps), compared(expected.steps));
      });
  }
});
