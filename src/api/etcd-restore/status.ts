// The status of an EtcdRestore. The first two fields are those of etcd-operator 0.9.
import { backupFacts, conditions } from "../backups/status.ts";
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

const when = (description: string) => string(`${description}, as in 2026-01-31T12:00:00Z.`);

export const phases = ["Checking", "Saving", "Restoring", "Succeeded", "Failed"] as const;

export const statusSchema = object("What is known of the restore. Only the operator writes it.", {
  succeeded: defaulted(false, boolean("True once the cluster is ready with the data of the backup.")),
  reason: string("Why it failed, and what to do."),
  phase: oneOf(
    "Checking: the backup is read and proved; nothing is touched. Saving: what the cluster holds is saved. Restoring: the cluster is made from the backup.",
    phases,
  ),
  message: string("What happens now, in a sentence."),
  conditions: conditions("Complete, Reconciling or Stalled."),
  observedGeneration: observedGeneration("The metadata.generation that this status is based on."),
  startedAt: when("When it began"),
  completedAt: when("When it ended"),
  attempt: defaulted(1, integer("How often the step under way has been tried.")),
  notBefore: when("When the next attempt begins"),
  pod: string("The worker: `kubectl logs` shows the progress."),
  inPlace: boolean("True when a cluster that existed is replaced."),
  clusterUid: string("Of the EtcdCluster."),
  backup: backupFacts("The backup that is restored, as the check found it."),
  checkedAt: when("When the backup was proved last"),
  key: string("The key of the backup in its store."),
  keys: integer("How many keys it holds."),
  revisionBump: integer("By how much the revision is raised."),
  clusterPhase: oneOf(
    "How far the EtcdCluster is. Stopping: the members that were there go. Seeding: the first member is made from the backup. Done: it serves.",
    ["Stopping", "Seeding", "Done"],
  ),
  seed: object("What the first member of the restored cluster said when it had its data.", {
    member: required("", string("Its name.")),
    revision: integer("The revision of the backup that it was made from."),
    hash: integer("The hash of all keys at that revision."),
  }),
  snapshotPath: string("Where the data that was replaced has been saved."),
  snapshotRevision: integer("The revision up to which it was saved."),
  snapshotProblem: string("Why it could not be saved."),
  keptVolumes: string("The claims of the members that were replaced, with the data they held."),
  clusterId: string("The id of the restored cluster."),
});

export type EtcdRestoreStatus = StoredOf<typeof statusSchema>;
export type CompleteStatus = CompleteOf<typeof statusSchema>;
