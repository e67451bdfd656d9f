// What is wrong with an EtcdBackup, in sentences that say what to do: what the API server refuses, and what it cannot see.
import { Cron } from "croner";
import { storeProblems } from "../backups/stores.ts";
import { check } from "../schema/check.ts";
import { complete } from "../schema/complete.ts";
import type { EtcdBackup } from "./etcd-backup.ts";
import { nameRules } from "./rules.ts";
import { type CompleteSpec, specSchema } from "./spec.ts";

export function problemsOf(backup: EtcdBackup): string[] {
  const ofName = nameRules.filter((rule) => !rule.holds(backup.metadata?.name ?? "")).map((rule) => rule.says);
  if (backup.spec === undefined || backup.spec === null) return [...ofName, "spec is missing: it must be set."];
  const spec = complete(specSchema, backup.spec);
  return [...ofName, ...check(specSchema, backup.spec, "spec"), ...storeProblems(spec), ...scheduleProblems(spec)];
}

function scheduleProblems({ backupPolicy: { schedule = "", timeZone = "" } }: CompleteSpec): string[] {
  if (schedule === "") return [];
  if (timeZone !== "" && !isZone(timeZone))
    return [
      `spec.backupPolicy.timeZone is ${timeZone}, which is not a time zone: use a name such as Europe/Berlin or UTC.`,
    ];
  try {
    // Seconds are not taken: cron has five fields, and a sixth is a mistake more often than a wish.
    const cron = new Cron(schedule, { paused: true, mode: "5-part", timezone: timeZone || "UTC" });
    if (cron.nextRun() === null)
      return [`spec.backupPolicy.schedule is ${schedule}, which never occurs: correct it, for example to 0 3 * * *.`];
    return [];
  } catch {
    return [
      `spec.backupPolicy.schedule is ${schedule}, which is not a Cron schedule: write minute, hour, day of the month, month and day of the week, for example 0 3 * * *.`,
    ];
  }
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
