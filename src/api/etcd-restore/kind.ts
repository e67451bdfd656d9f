// The description of the kind EtcdRestore: its names, schemas, columns and rules.
import type { KindDescription } from "../kind-description.ts";
import { EtcdRestore } from "./etcd-restore.ts";
import { nameRules } from "./rules.ts";
import { specSchema } from "./spec.ts";
import { statusSchema } from "./status.ts";

export const etcdRestore: KindDescription<EtcdRestore> = {
  kind: EtcdRestore,
  description: "EtcdRestore restores an etcd cluster from a backup, once.",
  names: { singular: "etcdrestore", shortNames: [], categories: ["all"] },
  spec: specSchema,
  status: statusSchema,
  nameRules,
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.etcdCluster.name", description: "Name of the EtcdCluster." },
    {
      name: "Phase",
      type: "string",
      jsonPath: ".status.phase",
      description: "Phase of the restore: Checking, Saving, Restoring, Succeeded or Failed.",
    },
    { name: "Taken", type: "date", jsonPath: ".status.backup.takenAt", description: "Age of the backup." },
    {
      name: "Revision",
      type: "integer",
      jsonPath: ".status.backup.revision",
      description: "Revision of etcd in the backup.",
    },
    {
      name: "Backup",
      type: "string",
      jsonPath: ".status.backup.path",
      description: "Path of the backup.",
      priority: 1,
    },
    {
      name: "Message",
      type: "string",
      jsonPath: ".status.message",
      description: "Current activity, or why the restore failed and what to do.",
      priority: 1,
    },
    {
      name: "Age",
      type: "date",
      jsonPath: ".metadata.creationTimestamp",
      description: "Time since the EtcdRestore was created.",
    },
  ],
  introduction: `A superset of the EtcdRestore of coreos etcd-operator 0.9: its manifests keep their meaning. A finished
EtcdRestore never runs again: to restore
again, delete it and apply it again, or apply another one.`,
};
