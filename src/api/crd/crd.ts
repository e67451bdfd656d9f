// The CustomResourceDefinition of EtcdCluster, made from its schema.
import type { CustomResourceDefinition } from "../../kube/objects/kinds.ts";
import { EtcdCluster } from "../etcd-cluster/etcd-cluster.ts";
import { nameRules } from "../etcd-cluster/rules.ts";
import { specSchema } from "../etcd-cluster/spec.ts";
import { statusSchema } from "../etcd-cluster/status.ts";
import { type OpenApiSchema, openApiOf } from "../schema/openapi.ts";

export interface PrinterColumn {
  name: string;
  type: "string" | "integer" | "date";
  jsonPath: string;
  description: string;
  /** 1: only with `--output=wide`. */
  priority?: 1;
}

export interface DefinedVersion {
  name: string;
  served: boolean;
  storage: boolean;
  schema: { openAPIV3Schema: OpenApiSchema };
  subresources: {
    status: Record<string, never>;
    scale: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath: string };
  };
  additionalPrinterColumns: PrinterColumn[];
}

/** As the operator writes it. */
export interface Definition extends CustomResourceDefinition {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: CustomResourceDefinition["spec"] & { preserveUnknownFields: false; versions: DefinedVersion[] };
}

const columns: PrinterColumn[] = [
  { name: "Ready", type: "string", jsonPath: ".status.ready", description: "Healthy voters of the wanted size." },
  { name: "Version", type: "string", jsonPath: ".status.currentVersion", description: "What every member runs." },
  { name: "Phase", type: "string", jsonPath: ".status.phase", description: "Creating, Running or Failed." },
  { name: "Leader", type: "string", jsonPath: ".status.leader", description: "The member that leads." },
  {
    name: "DB size",
    type: "integer",
    jsonPath: ".status.dbSize",
    description: "Bytes of the database file.",
    priority: 1,
  },
  { name: "Revision", type: "integer", jsonPath: ".status.revision", description: "etcd's revision.", priority: 1 },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", description: "Since it was made." },
];

const schema: OpenApiSchema = {
  description: "An etcd cluster: the operator makes it, keeps it at its size and heals it.",
  type: "object",
  required: ["spec"],
  properties: {
    apiVersion: { type: "string", description: `${EtcdCluster.group}/${EtcdCluster.version}.` },
    kind: { type: "string", description: `${EtcdCluster.kind}.` },
    metadata: { type: "object" },
    spec: openApiOf(specSchema),
    status: openApiOf(statusSchema),
  },
  "x-kubernetes-validations": nameRules.map(({ cel, says }) => ({ rule: cel, message: says })),
};

export const etcdClusterDefinition: Definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${EtcdCluster.plural}.${EtcdCluster.group}` },
  spec: {
    group: EtcdCluster.group,
    scope: "Namespaced",
    names: {
      kind: EtcdCluster.kind,
      plural: EtcdCluster.plural,
      singular: "etcdcluster",
      shortNames: ["etcd"],
      // None that is called as the short name is: kubectl would take `etcd/x` for all kinds of it.
      categories: ["all"],
    },
    // The definition of 2018 says true, which would go on storing fields that nobody knows.
    preserveUnknownFields: false,
    versions: [
      {
        name: EtcdCluster.version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: ".spec.size",
            statusReplicasPath: ".status.size",
            labelSelectorPath: ".status.selector",
          },
        },
        additionalPrinterColumns: columns,
      },
    ],
  },
};
