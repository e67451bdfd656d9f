// What is wrong with an EtcdRestore, in sentences that say what to do.
import { storeProblems } from "../backups/stores.ts";
import { check } from "../schema/check.ts";
import { complete } from "../schema/complete.ts";
import type { EtcdRestore } from "./etcd-restore.ts";
import { nameRules } from "./rules.ts";
import { specSchema } from "./spec.ts";

export function problemsOf(restore: EtcdRestore): string[] {
  const ofName = nameRules.filter((rule) => !rule.holds(restore.metadata?.name ?? "")).map((rule) => rule.says);
  if (restore.spec === undefined || restore.spec === null) return [...ofName, "spec is missing: it must be set."];
  const spec = complete(specSchema, restore.spec);
  const ofTime =
    spec.before !== undefined && spec.before !== "" && Number.isNaN(Date.parse(spec.before))
      ? [`spec.before is ${spec.before}, which is not a time: use the form 2026-01-31T12:00:00Z.`]
      : [];
  return [...ofName, ...check(specSchema, restore.spec, "spec"), ...storeProblems(spec), ...ofTime];
}
