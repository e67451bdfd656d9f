// Whether there is a backup that one can rely on: recent, and proved by a restore.
import { ageInWords } from "../screen/words.ts";
import type { BackupView } from "../view/cluster-view.ts";
import { type Examination, type Finding, note, serious, warning } from "./finding.ts";

/** A night that was left out, and some hours. */
const oldSeconds = 36 * 3600;

export const examineBackups: Examination = ({ backups, name }) => {
  if (backups === "unknown") return [];
  if (backups.length === 0)
    return [
      warning("This cluster has no backup.", `kubectl etcd backup ${name} --to=s3://BUCKET/${name} --secret=SECRET`),
    ];
  return [...backups.flatMap((backup) => troubleOf(backup, name)), ...ageOf(backups, name), ...proofOf(backups)];
};

function troubleOf({ name, phase, problem, failures }: BackupView, cluster: string): Finding[] {
  const command = `kubectl etcd backup ${cluster} --backup=${name} --wait`;
  if (phase === "Failed" || failures > 0)
    return [
      serious(
        `The EtcdBackup ${name} fails${failures > 1 ? `, ${failures} times in a row` : ""}: ${problem ?? "see its events"}`,
        command,
      ),
    ];
  return problem === undefined
    ? []
    : [warning(`The EtcdBackup ${name}: ${problem}`, `kubectl describe etcdbackup ${name}`)];
}

function ageOf(backups: readonly BackupView[], cluster: string): Finding[] {
  const ages = backups.flatMap(({ ageSeconds }) => ageSeconds ?? []);
  const newest = Math.min(...ages);
  const command = `kubectl etcd backup ${cluster} --wait`;
  if (ages.length === 0) return [warning("No backup has been completed yet.", command)];
  return newest > oldSeconds ? [warning(`The newest backup is ${ageInWords(newest * 1000)} old.`, command)] : [];
}

function proofOf(backups: readonly BackupView[]): Finding[] {
  const [first] = backups;
  if (first === undefined || backups.some(({ lastVerified }) => lastVerified !== undefined)) return [];
  return [
    note(
      "No backup has been verified by a restore.",
      `kubectl patch etcdbackup ${first.name} --type=merge -p '{"spec":{"verify":{"restore":true}}}'`,
    ),
  ];
}
