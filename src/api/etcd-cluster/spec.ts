// The spec of an EtcdCluster: the fields of etcd-operator 0.9 under their old names, odd capitals included, and newer
// ones, which are all optional. The rules that refuse a value are in `rules.ts`.
import type {
  Affinity,
  EnvVar,
  LocalObjectReference,
  PersistentVolumeClaimSpec,
  PodSecurityContext,
  ResourceRequirements,
  Toleration,
  TopologySpreadConstraint,
} from "kubernetes-types/core/v1.js";
import * as rules from "./rules.ts";
import {
  array,
  boolean,
  type CompleteOf,
  defaulted,
  embedded,
  embeddedList,
  filled,
  ignored,
  integer,
  map,
  object,
  oneOf,
  required,
  type StoredOf,
  string,
} from "../schema/schema.ts";
import { defaultVersion, inheritedVersion } from "./version.ts";

const secretAt = (path: string, description: string) =>
  string(description, { longest: 253, rules: [rules.secretName(`spec.${path}`)] });

const secret = (path: string, description: string) => secretAt(`TLS.static.${path}`, description);

const podSchema = object(
  "Settings of the member pods. `labels` and `annotations` change in running pods, and so do `resources` where Kubernetes allows it. Any other change is rolled out one member at a time: a member with a volume gets a new pod on it, a member without one is replaced.",
  {
    labels: map(
      "Labels added to the member pods. `app` and labels that start with `etcd_` are reserved for the operator.",
      string("Label value."),
      {
        most: 64,
        rules: [rules.reservedLabels],
      },
    ),
    annotations: map(
      "Annotations added to the member pods. The operator sets `etcd.version` itself.",
      string("Annotation value."),
    ),
    nodeSelector: map("Labels that a node must have to run a member.", string("Label value.")),
    affinity: embedded<Affinity>(
      "Affinity of the member pods: on which nodes they run, and near which other pods.",
      "Affinity",
    ),
    antiAffinity: defaulted(
      false,
      boolean(
        "Whether members must run on different nodes. Deprecated: use `affinity` or `topologySpreadConstraints` instead. Ignored if `affinity` is set.",
      ),
    ),
    topologySpreadConstraints: embeddedList<TopologySpreadConstraint>(
      "Constraints that spread the members over zones, nodes or other topology domains.",
      "TopologySpreadConstraint",
    ),
    tolerations: embeddedList<Toleration>("Tolerations of the member pods.", "Toleration"),
    resources: embedded<ResourceRequirements>(
      "CPU and memory requests and limits of the etcd container. Running pods are resized in place where Kubernetes allows it.",
      "ResourceRequirements",
      {
        emptyIsAbsent: true,
      },
    ),
    etcdEnv: embeddedList<EnvVar>(
      "Environment variables of the etcd container. Variables that conflict with settings of the operator are rejected.",
      "EnvVar",
    ),
    persistentVolumeClaimSpec: embedded<PersistentVolumeClaimSpec>(
      "PersistentVolumeClaim for each member's own volume. If unset, a member's data lives only as long as its pod. A larger storage request expands the volumes where the StorageClass allows it; any other change replaces the members one at a time.",
      "PersistentVolumeClaimSpec",
    ),
    securityContext: embedded<PodSecurityContext>("Security context of the member pods.", "PodSecurityContext", {
      emptyIsAbsent: true,
    }),
    priorityClassName: string("Name of the PriorityClass of the member pods."),
    serviceAccountName: string("Name of the ServiceAccount of the member pods. Its token is never mounted."),
    imagePullSecrets: embeddedList<LocalObjectReference>(
      "Secrets for pulling the images of the member pods.",
      "LocalObjectReference",
    ),
    terminationGracePeriodSeconds: defaulted(
      5,
      integer("Number of seconds that etcd gets to shut down before it is killed, from 0 to 3600.", {
        min: 0,
        max: 3600,
      }),
    ),
    busyboxImage: string(
      "Inherited from etcd-operator 0.9; ignored: the init container that waits for DNS runs the operator's image.",
    ),
    DNSTimeoutInSecond: defaulted(
      0,
      integer(
        "Number of seconds that a joining member waits for its DNS name before etcd starts; 0 means 60. Only members that run etcd 3.2 or 3.3 with TLS between members wait.",
      ),
    ),
    ClusterDomain: defaulted(
      "",
      string("Domain appended to the DNS names of members, for example `.cluster.local`.", {
        longest: 253,
        rules: [rules.clusterDomain],
      }),
    ),
    automountServiceAccountToken: ignored(
      "Inherited from an older etcd-operator; ignored: the token is never mounted.",
    ),
  },
);

const etcdSchema = object(
  "Settings of etcd itself.",
  {
    quotaBackendBytes: integer(
      "Size in bytes at which the database takes no more writes. If unset, etcd's default of 2 GiB applies; a new cluster on volumes smaller than 4.9 GiB gets a quota that fits the volume.",
      {
        min: 1,
      },
    ),
    autoCompactionMode: oneOf(
      "Unit of `autoCompactionRetention`: time (periodic) or number of revisions (revision). If unset, time. Requires `autoCompactionRetention`, and etcd 3.3 or later.",
      ["periodic", "revision"],
    ),
    autoCompactionRetention: string(
      "Amount of history that etcd keeps: hours (`8`), a duration (`30m`) or, in the mode revision, a number of revisions. If unset, etcd keeps all history.",
      { longest: 64 },
    ),
    snapshotCount: integer(
      "Number of transactions between two snapshots of the raft log. If unset, etcd's default applies: 10000 since etcd 3.6, 100000 before.",
      {
        min: 1,
      },
    ),
    extraArgs: array(
      "Additional flags of etcd, each in the form `--flag=value`; at most 64. Flags that the operator sets, or that have a field of their own, are rejected.",
      string("Flag, for example `--heartbeat-interval=200`.", { longest: 1024 }),
      { most: 64, rules: [rules.argForm, rules.ownedFlags, rules.typedFlags] },
    ),
  },
  { rules: [rules.compactionRetention, rules.compactionMode] },
);

const tls = object(
  "TLS between members and between clients and members. If unset, connections are plain text.",
  {
    static: object(
      "Certificates that you provide in Secrets in the namespace of the cluster. Cannot be combined with `auto`.",
      {
        member: object("Certificates of the members.", {
          peerSecret: secret(
            "member.peerSecret",
            "Name of the Secret for TLS between members, with `peer.crt`, `peer.key` and `peer-ca.crt`, or with `tls.crt`, `tls.key` and `ca.crt`.",
          ),
          serverSecret: secret(
            "member.serverSecret",
            "Name of the Secret for TLS with clients, with `server.crt`, `server.key` and `server-ca.crt`, or with `tls.crt`, `tls.key` and `ca.crt`. Requires `operatorSecret`.",
          ),
        }),
        operatorSecret: secret(
          "operatorSecret",
          "Name of the Secret with the operator's client certificate: `etcd-client.crt`, `etcd-client.key` and `etcd-client-ca.crt`, or `tls.crt`, `tls.key` and `ca.crt`. Requires `member.serverSecret`.",
        ),
      },
      { rules: [rules.serverSecretMissing, rules.operatorSecretMissing] },
    ),
    auto: boolean("Whether the operator creates and renews all certificates. Cannot be combined with `static`."),
  },
  { rules: [rules.autoOrStatic] },
);

const auth = object(
  "Login of the operator for clusters with etcd authentication enabled. Not needed if the operator's client certificate belongs to a user with the role root.",
  {
    operatorSecret: secretAt(
      "auth.operatorSecret",
      "Name of the Secret with `username` and `password` of an etcd user with the role root.",
    ),
  },
);

const failover = object("How long a member may be down before the operator replaces it.", {
  unreachableAfterSeconds: defaulted(
    60,
    integer(
      "Number of seconds after which a member is replaced because its node has stopped reporting or was deleted, from 1 to 86400.",
      {
        min: 1,
        max: 86_400,
      },
    ),
  ),
  crashLoopAfterSeconds: defaulted(
    120,
    integer(
      "Number of seconds after which a member is replaced because its etcd container crash-loops, from 1 to 86400. The member is replaced when the container next exits.",
      {
        min: 1,
        max: 86_400,
      },
    ),
  ),
});

const upgrade = object("How the operator changes the etcd version of a running cluster.", {
  path: defaulted(
    "Manual",
    oneOf(
      "How the cluster reaches a version that is more than one minor version away; etcd changes one minor version at a time. Manual: the operator refuses such a version and names the steps to take. Automatic: the operator takes the steps one after another.",
      ["Manual", "Automatic"],
    ),
  ),
});

const keep = (description: string) => defaulted("Retain", oneOf(description, ["Retain", "Delete"]));

const volumeRetention = object(
  "Whether volumes of members are kept or deleted. Applies only with `pod.persistentVolumeClaimSpec`.",
  {
    whenClusterDeleted: keep("What happens to all volumes when the EtcdCluster is deleted."),
    whenMemberRemoved: keep("What happens to a member's volume when the member is scaled down or replaced."),
  },
);

export const specSchema = object("Desired state of the cluster.", {
  size: required(
    0,
    integer(
      "Number of members, from 1 to 9. Choose an odd number: four members tolerate the loss of one, just as three do.",
      {
        rules: [rules.size],
      },
    ),
  ),
  repository: defaulted(
    "quay.io/coreos/etcd",
    string("Image repository of etcd, without a tag. Members run `<repository>:v<version>`.", {
      longest: 512,
      rules: [rules.repositoryWithoutTag],
    }),
  ),
  version: string(
    `Version of etcd, for example 3.6.16. If unset, a new cluster begins with ${defaultVersion}, and a cluster that exists keeps the version that it runs, whatever a later operator begins with. With a field that only etcd-operator 0.9 used, a new cluster begins with its default, ${inheritedVersion}.`,
    {
      longest: 128,
      rules: [rules.versionForm],
    },
  ),
  image: string(
    "Full image reference, used instead of `repository` and the tag from `version`. The image must contain etcd of `version`.",
    { longest: 1024, rules: [rules.imageForm] },
  ),
  paused: defaulted(
    false,
    boolean(
      "Whether the operator leaves the cluster alone. While true, it does not heal, scale or update the cluster.",
    ),
  ),
  pod: filled(podSchema),
  etcd: filled(etcdSchema),
  TLS: tls,
  auth,
  upgrade: filled(upgrade),
  updateStrategy: defaulted(
    "RollingUpdate",
    oneOf(
      "When members get a changed version or changed settings. RollingUpdate: immediately, one member at a time. OnDelete: when you delete their pods.",
      ["RollingUpdate", "OnDelete"],
    ),
  ),
  failover: filled(failover),
  volumeRetention: filled(volumeRetention),
  baseImage: ignored("Inherited from an older etcd-operator; ignored: set `repository` instead."),
  backup: ignored("Inherited from an older etcd-operator; ignored: create an EtcdBackup instead."),
  restore: ignored("Inherited from an older etcd-operator; ignored: create an EtcdRestore instead."),
  selfHosted: ignored("Inherited from an older etcd-operator; ignored."),
});

export type EtcdClusterSpec = StoredOf<typeof specSchema>;
/** Which version it is where none is set: `version.ts`. */
export type CompleteSpec = CompleteOf<typeof specSchema> & { readonly version: string };
export type PodPolicy = CompleteOf<typeof podSchema>;
