// The description of the kind EtcdCluster: its names, schemas, columns and rules.
import type { KindDescription } from "../kind-description.ts";
import { EtcdCluster } from "./etcd-cluster.ts";
import { nameRules } from "./rules.ts";
import { specSchema } from "./spec.ts";
import { statusSchema } from "./status.ts";

export const etcdCluster: KindDescription<EtcdCluster> = {
  kind: EtcdCluster,
  description: "EtcdCluster is an etcd cluster that the operator creates, scales, heals and upgrades.",
  names: {
    singular: "etcdcluster",
    shortNames: ["etcd"],
    // No category may have the short name: kubectl would read `etcd/x` as every kind in that category.
    categories: ["all"],
  },
  spec: specSchema,
  status: statusSchema,
  nameRules,
  columns: [
    {
      name: "Ready",
      type: "string",
      jsonPath: ".status.ready",
      description: "Number of healthy voters out of spec.size.",
    },
    {
      name: "Version",
      type: "string",
      jsonPath: ".status.currentVersion",
      description: "etcd version that every member runs.",
    },
    {
      name: "Status",
      type: "string",
      jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
      description: "Reason of the condition Ready: AllMembersReady, or why the cluster is not ready.",
    },
    {
      name: "Leader",
      type: "string",
      jsonPath: ".status.leader",
      description: "Name of the member that is the leader.",
    },
    {
      name: "Phase",
      type: "string",
      jsonPath: ".status.phase",
      description: "Phase of the cluster: Creating, Running or Failed.",
      priority: 1,
    },
    {
      name: "DB size",
      type: "integer",
      jsonPath: ".status.dbSize",
      description: "Size of the largest database file in bytes.",
      priority: 1,
    },
    { name: "Revision", type: "integer", jsonPath: ".status.revision", description: "Revision of etcd.", priority: 1 },
    {
      name: "Message",
      type: "string",
      jsonPath: '.status.conditions[?(@.type=="Ready")].message',
      description: "Message of the condition Ready: what is going on, and what to do.",
      priority: 1,
    },
    {
      name: "Age",
      type: "date",
      jsonPath: ".metadata.creationTimestamp",
      description: "Time since the EtcdCluster was created.",
    },
  ],
  scale: {
    specReplicasPath: ".spec.size",
    statusReplicasPath: ".status.size",
    labelSelectorPath: ".status.selector",
  },
  introduction: `It is a superset of the API of coreos etcd-operator 0.9: its manifests keep their meaning. A field that is unset,
null or empty has its default. The operator fills in defaults in memory and never writes them into the stored
object. \`kubectl explain etcdcluster.spec\` shows the same fields as this page.`,
};
