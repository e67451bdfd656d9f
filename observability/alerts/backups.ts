// Alerts about backups: whether there is a recent one, whether it can be trusted, and restores that failed.
import { type Alert, type Step, theBackup } from "../alert.ts";
import { backupDue, backupFailures, lastBackup, lastVerified } from "../expressions.ts";

const ofBackup = "on (namespace, name)";
const week = 7 * 86_400;

const whatTheBackupSays: Step = {
  say: "The status says what is going on, and why the last runs failed.",
  run: ["kubectl describe etcdbackup NAME -n NAMESPACE", "kubectl events -n NAMESPACE --for etcdbackup/NAME"],
};

const whatItsWorkerLogs: Step = {
  say: "Read the log of its worker. The last failed worker is kept until a run succeeds.",
  run: ["kubectl get pods -n NAMESPACE -l etcd_backup=NAME", "kubectl logs -n NAMESPACE -l etcd_backup=NAME --tail=50"],
};

const askForOne: Step = {
  say: "When the cause is gone, start a run immediately.",
  run: ['kubectl annotate etcdbackup NAME -n NAMESPACE --overwrite etcd.database.coreos.com/backup-now="$(date +%s)"'],
};

export const backupAlerts: readonly Alert[] = [
  {
    name: "EtcdBackupOld",
    expr: `time() - ${backupDue} > 3600`,
    for: "30m",
    severity: "warning",
    summary: `The backup ${theBackup} is overdue.`,
    description: `According to its schedule, ${theBackup} should have taken a newer backup {{ $value | humanizeDuration }} ago.`,
    runbook: {
      meaning:
        "A backup was due more than an hour ago, by the schedule or the interval of the EtcdBackup, and none has succeeded since. An EtcdBackup that is suspended, or whose only run is over, is never overdue.",
      impact: "If the cluster is lost now, everything since the last backup is lost.",
      diagnosis: [whatTheBackupSays, whatItsWorkerLogs],
      mitigation: [
        {
          say: "If runs fail, see [EtcdBackupFailing](EtcdBackupFailing.md). If a worker does not start, the event `Worker Cannot Start` says why. If the cluster does not serve, see its own alerts.",
        },
        { say: "If a run takes longer than the interval, choose a longer interval, or find out what makes it slow." },
        askForOne,
      ],
    },
  },
  {
    name: "EtcdBackupFailing",
    expr: `${backupFailures} > 0`,
    for: "5m",
    severity: "warning",
    summary: `The backup ${theBackup} is failing.`,
    description: `The last {{ $value }} runs of ${theBackup} have failed, each after all its attempts.`,
    runbook: {
      meaning:
        "The last run of an EtcdBackup has failed, after all its attempts. The alert clears when a run succeeds.",
      impact: "There is no new backup. Older ones are kept: a failed run deletes none.",
      diagnosis: [whatTheBackupSays, whatItsWorkerLogs],
      mitigation: [
        {
          say: "The status names the reason: most often wrong or expired credentials, a bucket that does not exist, or a store that cannot be reached from the namespace.",
        },
        askForOne,
      ],
    },
  },
  {
    name: "EtcdBackupUnverified",
    expr: `${lastBackup} unless ${ofBackup} ${lastVerified} or ${lastBackup} - ${lastVerified} > ${week}`,
    for: "1d",
    severity: "info",
    summary: `No recent backup of ${theBackup} was verified by a restore.`,
    description: `Either no backup of ${theBackup} was ever verified by a restore, or the last verified one is more than a week older than the newest.`,
    runbook: {
      meaning:
        "Every backup is read back and compared, but only a restore proves that etcd starts from it and has the same data. No backup of this EtcdBackup was ever restored, or none for a week.",
      impact: "The backups are probably good, but you find out only when you need one.",
      diagnosis: [
        whatTheBackupSays,
        {
          say: "Check whether verification is enabled.",
          run: ["kubectl get etcdbackup NAME -n NAMESPACE -o jsonpath='{.spec.verify.restore}'"],
        },
      ],
      mitigation: [
        {
          say: "Have each backup restored into a throwaway member. Each verification needs a pod with room for the database.",
          run: [`kubectl patch etcdbackup NAME -n NAMESPACE --type=merge -p '{"spec":{"verify":{"restore":true}}}'`],
        },
        { say: "If you verify backups in another way, silence this alert for the namespace." },
      ],
    },
  },
  {
    name: "EtcdBackupVerificationFailed",
    expr: 'sum by (namespace, name) (increase(etcd_operator_backup_verifications_total{result="Failed"}[1d])) > 0',
    for: "0m",
    severity: "critical",
    summary: `A backup of ${theBackup} could not be restored.`,
    description: `A verification of ${theBackup} failed during the last day: etcd did not start from the backup, or had other data.`,
    runbook: {
      meaning:
        "The restore of a backup into a throwaway member failed, or its revision or hash differs from what was backed up.",
      impact: "Do not rely on this backup. The last verified one is kept regardless of the retention settings.",
      diagnosis: [
        whatTheBackupSays,
        {
          say: "See which backup was verified last.",
          run: ["kubectl get etcdbackup NAME -n NAMESPACE -o jsonpath='{.status.lastVerified}'"],
        },
      ],
      mitigation: [
        {
          say: "If the pod of the verification could not start (image, quota, time), fix the cause. The backup itself may be good.",
        },
        {
          say: "If the data differs, take another backup immediately, and compare the members as in [EtcdDatabaseCorrupt](EtcdDatabaseCorrupt.md).",
        },
        askForOne,
      ],
    },
  },
  {
    name: "EtcdRestoreFailed",
    expr: 'sum by (namespace) (increase(etcd_operator_restores{result="failed"}[1h])) > 0',
    for: "0m",
    severity: "warning",
    summary: "A restore has failed.",
    description: "An EtcdRestore that an operator in {{ $labels.namespace }} manages has failed during the last hour.",
    runbook: {
      meaning: "An EtcdRestore ended with the phase Failed.",
      impact:
        "The cluster still has its previous data, unless the status says otherwise. A restore verifies the backup before it stops anything.",
      diagnosis: [
        {
          say: "Find it, and read its status.",
          run: ["kubectl get etcdrestores -A", "kubectl describe etcdrestore NAME -n NAMESPACE"],
        },
      ],
      mitigation: [
        {
          say: "Do what the status says. Then delete the failed EtcdRestore and apply it again under the same name: a restore in place must have the name of its cluster. One that creates a cluster may also get another name. See [Restore](../backups.md#restore).",
        },
      ],
    },
  },
];
