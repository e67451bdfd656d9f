// The states of an EtcdRestore: its phases, and those that come with an edit, a deletion or etcd-operator 0.9.
import type { RestorePhase } from "../../../src/restore/observe/world.ts";
import type { EtcdRestoreStatus } from "../../../src/api/etcd-restore/etcd-restore.ts";
import { fail, go, type RestoreDecision, retry, stay, succeed } from "../../../src/restore/plan/actions.ts";
import { planRestore } from "../../../src/restore/plan/plan.ts";
import { statusOf } from "../../../src/restore/report/status.ts";
import { aRestore } from "../../../src/restore/testing/samples.ts";
import { deletionTimestamp, type Expected, objectOf, type State } from "./state.ts";

const now = Date.parse("2026-02-01T00:00:00Z");
const goesOn: Expected = ["InProgress", "InProgress", "Progressing"];
const isDone: Expected = ["Current", "Current", "Healthy"];
const failed: Expected = ["Failed", "Failed", "Degraded"];

const begun = (phase: RestorePhase): EtcdRestoreStatus => ({ observedGeneration: 1, phase });
const success = succeed("It is there.", {});
const tries = retry("The store did not answer.", 1000);

type Row = readonly [what: string, before: EtcdRestoreStatus, decision: RestoreDecision, expected: Expected];

const rows: readonly Row[] = [
  ["that waits to begin", {}, stay("It waits."), goesOn],
  ["that begins", {}, go("Checking", "The backup is checked."), goesOn],
  ["whose backup is proved", begun("Checking"), stay("It goes on."), goesOn],
  ["that saves what is there", begun("Saving"), stay("It goes on."), goesOn],
  ["that makes the cluster", begun("Restoring"), stay("It goes on."), goesOn],
  ["that tries a step again", begun("Checking"), tries, goesOn],
  ["that waits for a person", begun("Checking"), stay("Confirm it.", { needsAPerson: true }), failed],
  ["that succeeded", begun("Restoring"), success, isDone],
  ["that failed", begun("Checking"), fail("It is damaged."), failed],
  ["that cannot begin", {}, fail("The spec is wrong."), failed],
];

const written = (before: EtcdRestoreStatus, decision: RestoreDecision): EtcdRestoreStatus =>
  statusOf({ restore: aRestore({ status: before }), worker: undefined }, { decision, obstacle: undefined }, now);

const stateOf = (what: string, expected: Expected, status: EtcdRestoreStatus, metadata: object = {}): State => {
  const restore = aRestore();
  return {
    what,
    expected,
    object: objectOf("EtcdRestore", { ...restore, metadata: { ...restore.metadata, ...metadata }, status }),
  };
};

/** What the operator writes about one that is over when its spec is edited then. */
function editedAfter(before: EtcdRestoreStatus, decision: RestoreDecision): EtcdRestoreStatus {
  const restore = aRestore({ status: written(before, decision) });
  const edited = { ...restore, metadata: { ...restore.metadata, generation: 2 } };
  const world = {
    restore: edited,
    problems: [],
    cluster: undefined,
    rival: undefined,
    backup: { t: "none" },
    worker: undefined,
    requested: undefined,
    volumes: { kept: [], holdAll: false },
    spent: [],
    clusterSpec: undefined,
    savingEarly: undefined,
    seeds: [],
    image: "operator:1",
  } as const;
  return statusOf(world, { decision: planRestore(world, now).decision, obstacle: undefined }, now);
}

export const restoreStates: readonly State[] = [
  stateOf("that no operator has seen", goesOn, { observedGeneration: -1 }),
  ...rows.map(([what, before, decision, expected]) => stateOf(what, expected, written(before, decision))),
  stateOf("that is edited under way", goesOn, written(begun("Restoring"), stay("It goes on.")), { generation: 2 }),
  stateOf("that is edited when it has succeeded", isDone, editedAfter(begun("Restoring"), success), { generation: 2 }),
  stateOf("that is edited when it has failed", failed, editedAfter(begun("Checking"), fail("No.")), { generation: 2 }),
  // It says no generation and has no conditions, which kstatus takes for done.
  stateOf("that etcd-operator 0.9 carried out", isDone, { succeeded: true }),
  stateOf("that etcd-operator 0.9 gave up", ["Current", "Failed", "Degraded"], { succeeded: false, reason: "No." }),
  stateOf("that succeeded and is being deleted", ["Terminating", "InProgress", "Progressing"], written({}, success), {
    deletionTimestamp,
  }),
];
