// The alerts about backups and restores, each under the series that it is for.
import type { Case } from "./case.ts";
import { ofNightly, ofOperator } from "./series.ts";

const nightly = { namespace: "shop", name: "nightly" };
const day = 86_400;
const hour = 60;

export const backupCases: readonly Case[] = [
  {
    alert: "EtcdBackupOld",
    what: "fires when a backup was due long ago, and clears when one succeeds",
    // Due at minute 10; from minute 150 on the next one is due at minute 1000.
    series: {
      [ofNightly("due_timestamp_seconds")]: [
        [10 * 60, 150],
        [1000 * 60, 60],
      ],
    },
    fires: [105, 149],
    silent: [60, 90, 155],
    labels: nightly,
  },
  {
    alert: "EtcdBackupFailing",
    what: "fires when a run has failed, and clears when one succeeds",
    series: {
      [ofNightly("failures_in_a_row")]: [
        [0, 5],
        [1, 20],
        [0, 20],
      ],
    },
    fires: [11, 24],
    silent: [4, 26],
    labels: nightly,
  },
  {
    alert: "EtcdBackupUnverified",
    what: "fires when no backup was ever proved, and clears when one is",
    series: {
      [ofNightly("last_success_timestamp_seconds")]: [[600, 27 * hour]],
      [ofNightly("last_verified_timestamp_seconds")]: [
        ["nothing", 26 * hour],
        [600, hour],
      ],
    },
    fires: [25 * hour],
    silent: [23 * hour, 26 * hour + 10],
    labels: nightly,
  },
  {
    alert: "EtcdBackupUnverified",
    what: "fires when the last that was proved is a week older than the newest",
    series: {
      [ofNightly("last_success_timestamp_seconds")]: [[9 * day, 26 * hour]],
      [ofNightly("last_verified_timestamp_seconds")]: [[day, 26 * hour]],
    },
    fires: [25 * hour],
    silent: [23 * hour],
    labels: nightly,
  },
  {
    alert: "EtcdBackupVerificationFailed",
    what: "fires at once when a backup could not be restored, and clears a day later",
    series: {
      [ofNightly("verifications_total", { result: "Failed" })]: [
        [0, 10],
        [1, 26 * hour],
      ],
    },
    fires: [12, 20 * hour],
    silent: [9, 25 * hour],
    labels: nightly,
  },
  {
    alert: "EtcdRestoreFailed",
    what: "fires when a restore failed, and clears an hour later",
    series: {
      [ofOperator("etcd_operator_restores", { result: "failed" })]: [
        [0, 10],
        [1, 110],
      ],
    },
    fires: [12, 60],
    silent: [9, 75],
    labels: { namespace: "operators" },
  },
];
