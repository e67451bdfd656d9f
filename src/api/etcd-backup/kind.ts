// The description of the kind EtcdBackup: its names, schemas, columns and rules.
import type { KindDescription } from "../kind-description.ts";
import { EtcdBackup } from "./etcd-backup.ts";
import { nameRules } from "./rules.ts";
import { specSchema } from "./spec.ts";
import { statusSchema } from "./status.ts";

export const etcdBackup: KindDescription<EtcdBackup> = {
  kind: EtcdBackup,
  description: "EtcdBackup is a backup of an etcd cluster in a store, or a series of backups.",
  names: { singular: "etcdbackup", shortNames: [], categories: ["all"] },
  spec: specSchema,
  status: statusSchema,
  nameRules,
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterRef.name", description: "Name of the EtcdCluster." },
    {
      name: "Phase",
      type: "string",
      jsonPath: ".status.phase",
      description: "Phase of the backup, for example Running, Scheduled, Succeeded or Failed.",
    },
    {
      name: "Last",
      type: "date",
      jsonPath: ".status.lastSuccessDate",
      description: "Time since the last successful backup.",
    },
    {
      name: "Verified",
      type: "date",
      jsonPath: ".status.lastVerified.takenAt",
      description: "Age of the last verified backup.",
    },
    { name: "Next", type: "string", jsonPath: ".status.nextRun", description: "Time at which the next backup starts." },
    {
      name: "Size",
      type: "integer",
      jsonPath: ".status.lastBackup.sizeBytes",
      description: "Size of the last backup in bytes.",
      priority: 1,
    },
    {
      name: "Path",
      type: "string",
      jsonPath: ".status.lastBackup.path",
      description: "Path of the last backup.",
      priority: 1,
    },
    {
      name: "Revision",
      type: "integer",
      jsonPath: ".status.etcdRevision",
      description: "Revision of etcd in the last backup.",
      priority: 1,
    },
    {
      name: "Message",
      type: "string",
      jsonPath: ".status.message",
      description: "Current activity, or what is wrong and what to do.",
      priority: 1,
    },
    {
      name: "Age",
      type: "date",
      jsonPath: ".metadata.creationTimestamp",
      description: "Time since the EtcdBackup was created.",
    },
  ],
  introduction: `A superset of the EtcdBackup of coreos etcd-operator 0.9: its manifests keep their meaning. Secrets are read in the
namespace of the EtcdBackup, by the worker only.`,
};
