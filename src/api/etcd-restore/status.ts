// The status of an EtcdRestore. The first two fields are those of etcd-operator 0.9.
import { backupFacts, conditions, when } from "../backups/status.ts";
import {
  boolean,
  type CompleteOf,
  defaulted,
  integer,
  object,
  observedGeneration,
  oneOf,
  required,
  type StoredOf,
  string,
} from "../schema/schema.ts";

export const phases = ["Checking", "Saving", "Restoring", "Succeeded", "Failed"] as const;

export const statusSchema = object("Observed state of the restore. Only the operator writes it.", {
  succeeded: defaulted(false, boolean("Whether the cluster is ready with the data of the backup.")),
  reason: string("Reason why the restore failed, and what to do."),
  phase: oneOf(
    "Phase of the restore. Checking: the backup is read and verified; nothing is changed yet. Saving: the current data of the cluster is saved. Restoring: the cluster is created from the backup.",
    phases,
  ),
  message: string("Current activity, as a sentence for people."),
  conditions: conditions("Complete, Reconciling or Stalled."),
  observedGeneration: observedGeneration("metadata.generation that this status is based on."),
  startedAt: when("Time at which the restore started"),
  completedAt: when("Time at which the restore ended"),
  attempt: defaulted(1, integer("Number of the current attempt at the current step, from 1.")),
  notBefore: when("Time at which the next attempt starts"),
  pod: string("Name of the worker pod; `kubectl logs` shows its progress."),
  inPlace: boolean("Whether the data of an existing cluster is replaced."),
  clusterUid: string("UID of the EtcdCluster."),
  backup: backupFacts("Backup that is restored, as the check found it."),
  checkedAt: when("Time at which the backup was last verified"),
  key: string("Object key of the backup in its store."),
  keys: integer("Number of etcd keys in the backup."),
  revisionBump: integer("Number that is added to the revision of the backup."),
  clusterPhase: oneOf(
    "Progress of the EtcdCluster. Stopping: the old members stop. Seeding: the first members start from the backup. Done: the cluster serves.",
    ["Stopping", "Seeding", "Done"],
  ),
  seed: object(
    "Report of a first member of the restored cluster about its data. Each of them is compared with the backup.",
    {
      member: required("", string("Name of the member.")),
      revision: integer("Revision of the backup that the member was made from."),
      hash: integer("Hash of all keys at that revision."),
    },
  ),
  snapshotPath: string("Path of the snapshot of the replaced data."),
  snapshotRevision: integer(
    "Revision of etcd up to which that snapshot contains everything. Unset until the data is saved, and while it is to be saved again.",
  ),
  snapshotProblem: string("Reason why the replaced data could not be saved."),
  keptVolumes: string("PersistentVolumeClaims of the replaced members, which hold the replaced data."),
  clusterId: string("etcd cluster ID of the restored cluster."),
});

export type EtcdRestoreStatus = StoredOf<typeof statusSchema>;
export type CompleteStatus = CompleteOf<typeof statusSchema>;
