// When runs begin: once, at an interval, by a schedule of cron, or because a person asks for one. Times are those of day, in
// milliseconds. What was missed while no operator ran is one run, not several.
import { Cron } from "croner";
import { backupNowAnnotation, type CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { chanceOf } from "../objects/names.ts";
import { problemIn } from "./trouble.ts";

type Trigger = "Once" | "Interval" | "Schedule" | "Annotation";

export interface Start {
  readonly trigger: Trigger;
  readonly at: number;
}

type Backup = Pick<CompleteEtcdBackup, "metadata" | "spec" | "status">;

/** What begins the next run, perhaps in the past; undefined: nothing does by itself. */
export function nextStart(backup: Backup, now: number): Start | undefined {
  if (backupRequestOf(backup) !== undefined) return { trigger: "Annotation", at: now };
  return ownStart(backup, now);
}

/** Without what people ask for: what `status.nextRun` says. */
export function ownStart(backup: Backup, now: number): Start | undefined {
  const { schedule, backupIntervalInSecond, suspend } = backup.spec.backupPolicy;
  if (suspend) return undefined;
  if (schedule !== undefined) {
    const at = scheduledStart(backup, now);
    return at === undefined ? undefined : { trigger: "Schedule", at };
  }
  if (backupIntervalInSecond > 0) return { trigger: "Interval", at: intervalStart(backup) };
  if (backup.status.run !== undefined) return undefined; // the one that there is
  return isToRunOnce(backup) ? { trigger: "Once", at: createdAt(backup) } : undefined;
}

/** What follows by itself on a run that begins now; undefined: nothing. */
export function startAfter(backup: Backup, now: number): number | undefined {
  const { schedule, backupIntervalInSecond, suspend } = backup.spec.backupPolicy;
  if (suspend) return undefined;
  if (schedule !== undefined) return firstStart(backup, { after: now, slotsFrom: now - jitterOf(backup) });
  return backupIntervalInSecond > 0 ? intervalFrom(backup, Math.floor(now / 1000) * 1000) : undefined;
}

/**
 * When the backup was to begin that should be the newest by now. It lies ahead as long as none was missed: neither did one
 * fail, nor is one under way. Undefined: none is asked for.
 */
export function dueAt(backup: Backup, now: number): number | undefined {
  const { failures = 0, run, lastSuccessDate } = backup.status;
  const own = ownStart(backup, now);
  if (own === undefined || (own.at > now && failures === 0 && run === undefined)) return own?.at;
  return startAfter(backup, timeOf(lastSuccessDate) ?? createdAt(backup)) ?? own.at;
}

/** The value of the annotation, when a person has changed it since it was served. */
export function backupRequestOf({ metadata, status }: Backup): string | undefined {
  const asked = metadata.annotations?.[backupNowAnnotation];
  return asked === undefined || asked === "" || asked === status.handledRequest ? undefined : asked;
}

/** A run that is over is not repeated; one that failed is, once its spec was edited. */
export function isToRunOnce(backup: Backup): boolean {
  const { phase, succeeded } = backup.status;
  if (phase === "Pending" || phase === "Suspended" || !hasRun(backup)) return true;
  return phase === "Failed" && !succeeded && isEdited(backup);
}

/** etcd-operator 0.9 wrote no phase: what it left is done, whether it succeeded or not. */
export function isInherited({ status }: Backup): boolean {
  return status.phase === undefined && (status.succeeded || status.Reason !== undefined);
}

function hasRun(backup: Backup): boolean {
  const { phase, history, succeeded } = backup.status;
  if (history.length > 0 || succeeded || isInherited(backup)) return true;
  return phase === "Failed" && problemIn(backup)?.reason === "BackupFailed";
}

export const isEdited = ({ metadata, status }: Backup): boolean => status.observedGeneration !== metadata.generation;

const createdAt = ({ metadata }: Backup): number => timeOf(metadata.creationTimestamp) ?? 0;

function intervalStart(backup: Backup): number {
  const { lastScheduleTime, lastSuccessDate } = backup.status;
  // etcd-operator 0.9 wrote down only when the last one was complete.
  const last = timeOf(lastScheduleTime) ?? timeOf(lastSuccessDate);
  return last === undefined ? createdAt(backup) : intervalFrom(backup, last);
}

const intervalFrom = (backup: Backup, last: number): number =>
  last + backup.spec.backupPolicy.backupIntervalInSecond * 1000 + delayOf(backup, last);

/**
 * The time that was written down counts, so that a slot which passed while no operator ran is served. After an edit the
 * new schedule counts from then on: what it would have asked for earlier is not made up for.
 */
function scheduledStart(backup: Backup, now: number): number | undefined {
  const { nextRun, observedGeneration } = backup.status;
  const stored = timeOf(nextRun);
  if (stored !== undefined && (!isEdited(backup) || stored <= now)) return stored;
  if (observedGeneration === undefined) {
    const created = createdAt(backup);
    return firstStart(backup, { after: created, slotsFrom: created });
  }
  return firstStart(backup, { after: now, slotsFrom: now - jitterOf(backup) });
}

/** More slots than a sane jitter spans. */
const mostSlots = 100;

/** A slot that has come may still have its start before it, by its jitter: so slots are considered from a little earlier. */
function firstStart(backup: Backup, { after, slotsFrom }: { after: number; slotsFrom: number }): number | undefined {
  const { schedule = "", timeZone } = backup.spec.backupPolicy;
  const cron = new Cron(schedule, { paused: true, mode: "5-part", timezone: timeZone ?? "UTC" });
  let slot = cron.nextRun(new Date(slotsFrom));
  for (let tried = 0; tried < mostSlots && slot !== null; tried += 1) {
    const start = slot.getTime() + delayOf(backup, slot.getTime());
    if (start > after) return start;
    slot = cron.nextRun(slot);
  }
  const last = cron.nextRun(new Date(after));
  return last === null ? undefined : last.getTime() + delayOf(backup, last.getTime());
}

const jitterOf = ({ spec }: Backup): number => spec.backupPolicy.jitterInSecond * 1000;

/** Whole seconds up to the jitter, the same for the same slot whoever asks. */
function delayOf({ metadata, spec }: Backup, slot: number): number {
  const { jitterInSecond } = spec.backupPolicy;
  return Math.floor(chanceOf(`${metadata.uid ?? ""} ${slot}`) * (jitterInSecond + 1)) * 1000;
}

export function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}
