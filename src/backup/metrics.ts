// Metrics of EtcdBackups. All are of one object, and go with it.
import type { EtcdBackupStatus } from "../api/etcd-backup/etcd-backup.ts";
import type { Key } from "../kube/objects/objects.ts";
import type { Counter, Gauge, Registry } from "../kube/process/metrics.ts";
import type { Ended } from "./plan/actions.ts";
import { timeOf } from "./plan/due.ts";

const results = ["Succeeded", "Failed"] as const;

export class BackupMetrics {
  readonly #lastSuccess: Gauge;
  readonly #lastDuration: Gauge;
  readonly #lastSize: Gauge;
  readonly #failures: Gauge;
  readonly #lastVerified: Gauge;
  readonly #due: Gauge;
  readonly #runs: Counter;
  readonly #verifications: Counter;

  constructor(registry: Registry) {
    const gauge = (name: string, help: string): Gauge => registry.gauge({ name: `etcd_operator_backup_${name}`, help });
    const counter = (name: string, help: string): Counter =>
      registry.counter({ name: `etcd_operator_backup_${name}`, help });
    this.#lastSuccess = gauge(
      "last_success_timestamp_seconds",
      "Time at which the last backup was completed, in seconds since 1970.",
    );
    this.#lastDuration = gauge("last_duration_seconds", "Duration of the last run, with all its attempts.");
    this.#lastSize = gauge("last_size_bytes", "Size of the last backup.");
    this.#failures = gauge("failures_in_a_row", "Number of failed runs since the last successful one.");
    this.#lastVerified = gauge(
      "last_verified_timestamp_seconds",
      "Time at which the last backup that was verified by a restore was taken, in seconds since 1970.",
    );
    this.#due = gauge(
      "due_timestamp_seconds",
      "Time at which the next backup is due, or at which an outstanding one was due, in seconds since 1970; absent if no backup is planned.",
    );
    this.#runs = counter("runs_total", "Finished runs, by result.");
    this.#verifications = counter("verifications_total", "Finished verifications by restore, by result.");
  }

  /** From the status, so that a restart of the operator changes nothing. */
  statusOf(key: Key, status: EtcdBackupStatus, due: number | undefined): void {
    const { lastSuccessDate, lastBackup, lastVerified, failures, history = [] } = status;
    const labels = seriesLabels(key);
    const set = (gauge: Gauge, value: number | undefined): void =>
      value === undefined ? gauge.remove(labels) : gauge.set(labels, value);
    set(this.#lastSuccess, seconds(lastSuccessDate));
    set(this.#lastDuration, history[0]?.durationSeconds);
    set(this.#lastSize, lastBackup?.sizeBytes);
    set(this.#failures, failures ?? 0);
    set(this.#lastVerified, seconds(lastVerified?.takenAt));
    set(this.#due, due === undefined ? undefined : Math.floor(due / 1000));
    // From the start: a counter that appears with its first increment hides it from increase().
    for (const result of results) this.#runs.add({ ...labels, result }, 0);
    for (const result of results) this.#verifications.add({ ...labels, result }, 0);
  }

  ended(key: Key, { t, result }: Ended): void {
    (t === "run" ? this.#runs : this.#verifications).add({ ...seriesLabels(key), result });
  }

  forget(key: Key): void {
    const labels = seriesLabels(key);
    for (const gauge of this.#gauges()) gauge.remove(labels);
    for (const counter of [this.#runs, this.#verifications]) counter.remove(labels);
  }

  /** For a process that no longer leads: another one says what is the case. What was counted stays counted. */
  forgetAll(): void {
    for (const gauge of this.#gauges()) gauge.clear();
  }

  #gauges(): readonly Gauge[] {
    const last = [this.#lastSuccess, this.#lastDuration, this.#lastSize, this.#lastVerified];
    return [...last, this.#failures, this.#due];
  }
}

const seriesLabels = ({ namespace, name }: Key): { name: string; namespace: string } => ({ name, namespace });

function seconds(text: string | undefined): number | undefined {
  const ms = timeOf(text);
  return ms === undefined ? undefined : Math.floor(ms / 1000);
}
