// Alerts about backups: whether there is a recent one, whether it can be trusted, and restores that failed.
import { type Alert, type Step, theBackup } from "../alert.ts";
import { backupDue, backupFailures, lastBackup, lastVerified } from "../expressions.ts";

const ofBackup = "on (namespace, name)";
const week = 7 * 86_400;

const whatTheBackupSays: Step = {
  say: "The status says what happens, and why the last runs failed.",
  run: ["kubectl describe etcdbackup NAME -n NAMESPACE", "kubectl events -n NAMESPACE --for etcdbackup/NAME"],
};

const whatItsWorkerLogs: Step = {
  say: "See what its worker logs. The last one that failed is kept until a run has succeeded.",
  run: ["kubectl get pods -n NAMESPACE -l etcd_backup=NAME", "kubectl logs -n NAMESPACE -l etcd_backup=NAME --tail=50"],
};

const askForOne: Step = {
  say: "When the cause is gone, ask for a run at once.",
  run: ['kubectl annotate etcdbackup NAME -n NAMESPACE --overwrite etcd.database.coreos.com/backup-now="$(date +%s)"'],
};

export const backupAlerts: readonly Alert[] = [
  {
    name: "EtcdBackupOld",
    expr: `time() - ${backupDue} > 3600`,
    for: "30m",
    severity: "warning",
    summary: `The backup ${theBackup} is overdue.`,
    description: `By its schedule there should be a newer backup in ${theBackup} since {{ $value | humanizeDuration }}.`,
    runbook: {
      meaning:
        "A backup was due more than an hour ago, by the schedule or the interval of the EtcdBackup, and none has succeeded since. What is suspended, and what is to run only once and is done, is never overdue.",
      impact: "If the cluster is lost now, everything since the last backup is lost.",
      diagnosis: [whatTheBackupSays, whatItsWorkerLogs],
      mitigation: [
        {
          say: "Runs fail: see [EtcdBackupFailing](EtcdBackupFailing.md). A worker does not start: `Worker Cannot Start` says why. The cluster does not serve: see its own alerts.",
        },
        { say: "A run takes longer than its interval: choose a longer one, or see what makes it slow." },
        askForOne,
      ],
    },
  },
  {
    name: "EtcdBackupFailing",
    expr: `${backupFailures} > 0`,
    for: "5m",
    severity: "warning",
    summary: `The backup ${theBackup} fails.`,
    description: `The last {{ $value }} runs of ${theBackup} have failed, each after all its attempts.`,
    runbook: {
      meaning: "The last run of an EtcdBackup has failed, after all its attempts. It is over when a run succeeds.",
      impact: "There is no new backup. Older ones are kept: a failed run deletes none.",
      diagnosis: [whatTheBackupSays, whatItsWorkerLogs],
      mitigation: [
        {
          say: "The status has the reason in a sentence: most often credentials that are wrong or expired, a bucket that does not exist, or a store that cannot be reached from the namespace.",
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
    summary: `No recent backup of ${theBackup} was proved by a restore.`,
    description: `Either no backup of ${theBackup} was ever restored to see that it works, or the last that was is more than a week older than the newest.`,
    runbook: {
      meaning:
        "Every backup is read back and compared. Only a restore proves that etcd starts from it and has the same data. That was never done for this EtcdBackup, or not for a week.",
      impact: "The backups are probably good. You will know when you need one.",
      diagnosis: [
        whatTheBackupSays,
        {
          say: "See whether it is asked for.",
          run: ["kubectl get etcdbackup NAME -n NAMESPACE -o jsonpath='{.spec.verify.restore}'"],
        },
      ],
      mitigation: [
        {
          say: "Have each backup restored into a throwaway member. Each time that takes a pod with room for the database.",
          run: [`kubectl patch etcdbackup NAME -n NAMESPACE --type=merge -p '{"spec":{"verify":{"restore":true}}}'`],
        },
        { say: "If you prove backups in another way, silence this alert for the namespace." },
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
        "A backup was restored into a throwaway member, and that failed, or revision or hash differ from what was backed up.",
      impact: "Do not rely on this backup. The last verified one is kept, whatever the retention says.",
      diagnosis: [
        whatTheBackupSays,
        {
          say: "See which backup was proved last.",
          run: ["kubectl get etcdbackup NAME -n NAMESPACE -o jsonpath='{.status.lastVerified}'"],
        },
      ],
      mitigation: [
        {
          say: "The pod of the verification could not start (image, quota, time): mend that. The backup itself may be good.",
        },
        {
          say: "The data differs: take another backup at once, and compare the members: [EtcdDatabaseCorrupt](EtcdDatabaseCorrupt.md).",
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
    description:
      "An EtcdRestore that an operator in {{ $labels.namespace }} looks after has failed during the last hour.",
    runbook: {
      meaning: "An EtcdRestore ended with the phase Failed.",
      impact:
        "The cluster has the data that it had, unless the status says otherwise. A restore proves the backup before it stops anything.",
      diagnosis: [
        {
          say: "Find it, and read its status.",
          run: ["kubectl get etcdrestores -A", "kubectl describe etcdrestore NAME -n NAMESPACE"],
        },
      ],
      mitigation: [
        {
          say: "Do what the status says. Then delete the failed EtcdRestore and apply it again under the same name: a restore in place must have the name of its cluster. One that creates a cluster may also get another name. [Restore](../backups.md#restore) says more.",
        },
      ],
    },
  },
];
