// Every condition that the operator writes into the status of an object of ours, with its reasons, as a table and as types: a
// reason that is not a row does not compile. Programs wait for types and branch on reasons, so neither changes once it is
// released. Status, events, health checks, alerts, colours, the doctor and docs/reference/conditions.md go by these rows.
import { etcdBackupConditions } from "./conditions/etcd-backup.ts";
import { etcdClusterConditions } from "./conditions/etcd-cluster.ts";
import { etcdRestoreConditions } from "./conditions/etcd-restore.ts";
import type { ConditionReason, ConditionType, Meaning, Reasons } from "./conditions/reason.ts";

export const conditionTypes = {
  EtcdCluster: etcdClusterConditions,
  EtcdBackup: etcdBackupConditions,
  EtcdRestore: etcdRestoreConditions,
} as const satisfies Readonly<Record<string, Readonly<Record<string, ConditionType>>>>;

type Table = typeof conditionTypes;
type Status = "True" | "False";
export type KindWithConditions = keyof Table;
type TypeOf<Kind extends KindWithConditions> = keyof Table[Kind];

type RowOf<Kind extends KindWithConditions, Type extends TypeOf<Kind>> = Table[Kind][Type];

/** A reason that a condition may have while it is True or False, as the table has it. */
export type ReasonOf<Kind extends KindWithConditions, Type extends TypeOf<Kind>, Is extends Status = Status> =
  RowOf<Kind, Type> extends { readonly reasons: { readonly as: infer Other extends TypeOf<Kind> } }
    ? ReasonOf<Kind, Other>
    : RowOf<Kind, Type> extends { readonly reasons: infer Rows extends Readonly<Record<Status, object>> }
      ? { readonly [One in Is]: Extract<keyof Rows[One], string> }[Is]
      : never;

/** What is concluded of a condition: `status` and `reason` belong together. */
export type VerdictOn<Kind extends KindWithConditions, Type extends TypeOf<Kind>> = {
  readonly [Is in Status]: {
    readonly status: Is;
    readonly reason: ReasonOf<Kind, Type, Is>;
    readonly message: string;
  };
}[Status];

type NotAlways<Kind extends KindWithConditions> = {
  [Type in TypeOf<Kind>]: RowOf<Kind, Type> extends { readonly present: string } ? Type : never;
}[TypeOf<Kind>];

/** All conditions of a kind, each with what is concluded of it. Those that are not always there may be left out. */
export type VerdictsOn<Kind extends KindWithConditions> = {
  readonly [Type in Exclude<TypeOf<Kind>, NotAlways<Kind>>]: VerdictOn<Kind, Type>;
} & {
  readonly [Type in NotAlways<Kind>]?: VerdictOn<Kind, Type>;
};

type AnyType = { readonly [Kind in KindWithConditions]: TypeOf<Kind> }[KindWithConditions];

/** The condition of an object of ours, where it has one: a type that no kind has does not compile. */
export const conditionOf = <One extends { readonly type: string }>(
  conditions: readonly One[] | undefined,
  type: AnyType,
): One | undefined => conditions?.find((one) => one.type === type);

export type ReadyReason = ReasonOf<"EtcdCluster", "Ready">;

/** The row of a condition as an object has it. Undefined: there is none, or its reason is that of another release. */
export function rowOf<Kind extends KindWithConditions>(
  kind: Kind,
  type: TypeOf<Kind> & string,
  condition: { readonly status: string; readonly reason?: string } | undefined,
): ConditionReason | undefined {
  if (condition?.status !== "True" && condition?.status !== "False") return undefined;
  const types: Readonly<Record<string, ConditionType>> = conditionTypes[kind];
  const { reasons } = types[type] ?? {};
  if (reasons === undefined || "as" in reasons) return undefined;
  const { status, reason = "" } = condition;
  return isIn(reasons[status], reason) ? reasons[status][reason] : undefined;
}

/** Whether the table has a reason that was read, which may be that of another release. */
export const isIn = <Rows extends object>(rows: Rows, reason: string): reason is Extract<keyof Rows, string> =>
  Object.hasOwn(rows, reason);

/** The reasons of a cluster that is not Ready, and the problems of an EtcdBackup, in the order of the tables. */
export const readyReasonsThatMean = (...meanings: readonly Meaning[]): string[] =>
  thatMean(conditionTypes.EtcdCluster.Ready.reasons.False, meanings);
export const problemsThatMean = (...meanings: readonly Meaning[]): string[] =>
  thatMean(conditionTypes.EtcdBackup.Problem.reasons.True, meanings);

export const reasonsOfAlert = (alert: string, rows: Reasons): string[] =>
  Object.entries(rows).flatMap(([reason, { runbook }]) => (runbook === alert ? [reason] : []));

const thatMean = (rows: Reasons, meanings: readonly Meaning[]): string[] =>
  Object.entries(rows).flatMap(([reason, { meaning }]) => (meanings.includes(meaning) ? [reason] : []));
