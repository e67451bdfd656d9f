// The description of the kind EtcdRestore: its names, schemas, columns and rules.
import type { KindDescription } from "../kind-description.ts";
import { EtcdRestore } from "./etcd-restore.ts";
import { nameRules } from "./rules.ts";
import { specSchema } from "./spec.ts";
import { statusSchema } from "./status.ts";

export const etcdRestore: KindDescription<EtcdRestore> = {
  kind: EtcdRestore,
  description: "Restores an etcd cluster from a backup.",
  names: { singular: "etcdrestore", shortNames: [], categories: ["all"] },
  spec: specSchema,
  status: statusSchema,
  nameRules,
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.etcdCluster.name", description: "The EtcdCluster." },
    {
      name: "Phase",
      type: "string",
      jsonPath: ".status.phase",
      description: "Checking, Saving, Restoring, Succeeded or Failed.",
    },
    { name: "Taken", type: "date", jsonPath: ".status.backup.takenAt", description: "Age of the backup." },
    {
      name: "Revision",
      type: "integer",
      jsonPath: ".status.backup.revision",
      description: "The revision of the backup.",
    },
    { name: "Backup", type: "string", jsonPath: ".status.backup.path", description: "The backup.", priority: 1 },
    {
      name: "Message",
      type: "string",
      jsonPath: ".status.message",
      description: "What happens now, or why it failed and what to do.",
      priority: 1,
    },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", description: "Time since it was created." },
  ],
  introduction: `A superset of the EtcdRestore of coreos etcd-operator 0.9: its manifests keep their meaning. It is done once: apply
another to restore again.`,
};
