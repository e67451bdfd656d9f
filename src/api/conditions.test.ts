// The table of conditions: a reason that is not in it does not compile, and one that was read and is not in it has no row.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  conditionTypes,
  type KindWithConditions,
  problemsThatMean,
  type ReadyReason,
  readyReasonsThatMean,
  type ReasonOf,
  rowOf,
  type VerdictOn,
} from "./conditions.ts";
import type { ConditionType, Reasons } from "./conditions/reason.ts";
import { phases as backupPhases } from "./etcd-backup/status.ts";
import { phases as restorePhases } from "./etcd-restore/status.ts";
import { type EventReason, eventReasons } from "./events.ts";
import { kinds } from "./kinds.ts";
import type { Schema } from "./schema/schema.ts";

const { EtcdCluster, EtcdBackup, EtcdRestore } = conditionTypes;

/** All sets of rows, by what has them. */
function rowsOf(kind: KindWithConditions): (readonly [where: string, status: "True" | "False", rows: Reasons])[] {
  const types: readonly (readonly [string, ConditionType])[] = Object.entries(conditionTypes[kind]);
  return types.flatMap(([type, { reasons }]) =>
    "as" in reasons
      ? []
      : (["True", "False"] as const).map((status) => [`${kind} ${type}`, status, reasons[status]] as const),
  );
}
const allRows = kinds.map(({ kind }) => kind.kind).flatMap((kind) => (isKind(kind) ? rowsOf(kind) : []));
function isKind(kind: string): kind is KindWithConditions {
  return Object.hasOwn(conditionTypes, kind);
}

describe("a reason that is not in the table does not compile", () => {
  test("of Ready, whether it is True or False", () => {
    const good: ReadyReason[] = ["AllMembersReady", "QuorumLost"];
    // @ts-expect-error: misspelt
    const misspelt: ReadyReason = "QourumLost";
    // @ts-expect-error: it is one of Available
    const others: ReadyReason = "Cluster available";
    assert.ok(![...good, "x"].includes(misspelt) && others !== undefined);
  });

  test("where a condition is concluded: status and reason belong together", () => {
    const good: VerdictOn<"EtcdCluster", "Ready"> = { status: "False", reason: "Scaling", message: "" };
    // @ts-expect-error: Scaling is a reason of Ready while it is False
    const wrong: VerdictOn<"EtcdCluster", "Ready"> = { status: "True", reason: "Scaling", message: "" };
    // @ts-expect-error: misspelt
    const backup: VerdictOn<"EtcdBackup", "Problem"> = { status: "True", reason: "BackupFaild", message: "" };
    // @ts-expect-error: an EtcdRestore has no condition Ready
    const none: VerdictOn<"EtcdRestore", "Ready">[] = [];
    assert.ok(good.reason === wrong.reason && backup.status === "True" && none.length === 0);
  });

  test("Reconciling and Stalled have the reasons of another condition", () => {
    const same: ReasonOf<"EtcdCluster", "Stalled">[] = ["DataLost"] satisfies ReadyReason[];
    // @ts-expect-error: Complete has no such reason
    const other: ReasonOf<"EtcdRestore", "Stalled"> = "DataLost";
    assert.deepEqual([same, typeof other], [["DataLost"], "string"]);
  });
});

describe("the row of a condition", () => {
  test("is found by type, status and reason", () => {
    const onDelete = rowOf("EtcdCluster", "Ready", { status: "False", reason: "UpdateOnDelete" });
    assert.deepEqual([onDelete?.meaning, onDelete?.severity], ["suspended", "warning"]);
  });

  test("is not there for a reason of another release, another status, or none", () => {
    for (const condition of [
      { status: "False", reason: "OfTomorrow" },
      { status: "False", reason: "constructor" },
      { status: "True", reason: "DataLost" },
      { status: "Unknown", reason: "DataLost" },
      { status: "False" },
      undefined,
    ])
      assert.equal(rowOf("EtcdCluster", "Ready", condition), undefined);
  });
});

describe("the rows", () => {
  test("say what to do wherever a person is needed, in sentences that fit into a cell of a table", () => {
    for (const [where, , rows] of allRows)
      for (const [reason, { when, whatToDo, meaning }] of Object.entries(rows)) {
        assert.ok((meaning !== "degraded" && meaning !== "stalled") || whatToDo !== undefined, `${where} ${reason}`);
        for (const text of [when, whatToDo ?? "None."]) assert.match(text, /^[^|\n]+[.)]$/, `${where} ${reason}`);
      }
  });

  test("are good exactly where nothing is to be waited for", () => {
    for (const [where, , rows] of allRows)
      for (const [reason, { meaning, severity }] of Object.entries(rows))
        assert.equal(severity === "good", meaning === "settled", `${where} ${reason}`);
  });

  test("name events of their own kind, and warnings only", () => {
    for (const [where, , rows] of allRows)
      for (const [reason, { event }] of Object.entries(rows)) {
        if (event === undefined) continue;
        const { type, on = ["EtcdCluster"] }: EventReason = eventReasons[event];
        assert.equal(type, "Warning", `${where} ${reason}`);
        assert.ok(
          on.some((kind) => where.startsWith(`${kind} `)),
          `${where} ${reason}`,
        );
      }
  });

  test("have every phase of an EtcdBackup and of an EtcdRestore as a reason, and no other", () => {
    const sorted = (reasons: object): string[] => Object.keys(reasons).toSorted();
    const unfinished = (phases: readonly string[]): string[] => phases.filter((phase) => phase !== "Succeeded");
    assert.deepEqual(
      sorted(EtcdBackup.Complete.reasons.False),
      [...Object.keys(EtcdBackup.Problem.reasons.True), ...unfinished(backupPhases)].toSorted(),
    );
    assert.deepEqual(sorted(EtcdRestore.Complete.reasons.False), ["Waiting", ...unfinished(restorePhases)].toSorted());
  });
});

test("programs that wait can tell what continues by itself, and what does not", () => {
  assert.deepEqual(readyReasonsThatMean("suspended"), ["UpdateOnDelete"]);
  assert.ok(Object.keys(EtcdCluster.Ready.reasons.False).length > readyReasonsThatMean("stalled", "degraded").length);
  assert.deepEqual(problemsThatMean("progressing"), ["ClusterNotServing", "AttemptFailed"]);
});

for (const { kind, status } of kinds)
  test(`the field for the type of a condition names all that an ${kind.kind} has`, () => {
    const described = descriptionOfType(status);
    const types = isKind(kind.kind) ? Object.keys(conditionTypes[kind.kind]) : [];
    assert.deepEqual(
      types.filter((type) => !described.includes(type)),
      [],
    );
  });

function descriptionOfType({ shape }: Schema): string {
  const list = shape.t === "object" ? shape.fields["conditions"]?.shape : undefined;
  const item = list?.t === "array" ? list.items.shape : undefined;
  return (item?.t === "object" ? item.fields["type"]?.description : undefined) ?? "";
}
