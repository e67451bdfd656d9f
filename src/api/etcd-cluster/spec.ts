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

const secretAt = (path: string, description: string) =>
  string(description, { longest: 253, rules: [rules.secretName(`spec.${path}`)] });

const secret = (path: string, description: string) => secretAt(`TLS.static.${path}`, description);

export const podSchema = object(
  "Settings of the pods. `labels`, `annotations` and `resources` change in running pods; for the rest members are exchanged, one at a time.",
  {
    labels: map(
      "Labels of the pods. `app` and labels that start with `etcd_` are reserved for the operator.",
      string("A value."),
      {
        most: 64,
        rules: [rules.reservedLabels],
      },
    ),
    annotations: map("Annotations of the pods. `etcd.version` is set by the operator.", string("A value.")),
    nodeSelector: map("Labels that a node must have to run a member.", string("A value.")),
    affinity: embedded<Affinity>("Where pods may run, relative to nodes and other pods.", "Affinity"),
    antiAffinity: defaulted(
      false,
      boolean(
        "Never run two members on one node. Deprecated: use `affinity` or `topologySpreadConstraints`. Ignored when `affinity` is set.",
      ),
    ),
    topologySpreadConstraints: embeddedList<TopologySpreadConstraint>(
      "How members are spread over zones, nodes or other topology domains.",
      "TopologySpreadConstraint",
    ),
    tolerations: embeddedList<Toleration>("Taints that the pods tolerate.", "Toleration"),
    resources: embedded<ResourceRequirements>(
      "Compute resources of the etcd container. Running pods are resized in place where Kubernetes allows it.",
      "ResourceRequirements",
      {
        emptyIsAbsent: true,
      },
    ),
    etcdEnv: embeddedList<EnvVar>("Environment variables of the etcd container.", "EnvVar"),
    persistentVolumeClaimSpec: embedded<PersistentVolumeClaimSpec>(
      "The claim for each member's own volume. Absent: data lives as long as the pod. A larger request grows the volumes; any other change exchanges the members.",
      "PersistentVolumeClaimSpec",
    ),
    securityContext: embedded<PodSecurityContext>("Security settings of the pods.", "PodSecurityContext", {
      emptyIsAbsent: true,
    }),
    priorityClassName: string("The PriorityClass of the pods."),
    serviceAccountName: string("The ServiceAccount of the pods. Its token is never mounted."),
    imagePullSecrets: embeddedList<LocalObjectReference>("Secrets to pull the image with.", "LocalObjectReference"),
    terminationGracePeriodSeconds: defaulted(5, integer("Seconds that etcd gets to shut down.", { min: 0, max: 3600 })),
    busyboxImage: string("Of etcd-operator 0.9, not used: what waits for DNS is the operator's image."),
    DNSTimeoutInSecond: defaulted(
      0,
      integer(
        "How long a joining member waits for its name in DNS before etcd starts; 0: one minute. Only etcd 3.2 and 3.3 with TLS between members wait.",
      ),
    ),
    ClusterDomain: defaulted(
      "",
      string("Appended to the DNS names of members, as in `.cluster.local`.", {
        longest: 253,
        rules: [rules.clusterDomain],
      }),
    ),
    automountServiceAccountToken: ignored("Of an older etcd-operator, ignored: the token is never mounted."),
  },
);

export const etcdSchema = object(
  "Settings of etcd itself.",
  {
    quotaBackendBytes: integer("Size at which the database takes no more writes. Absent: etcd's own, 2 GiB.", {
      min: 1,
    }),
    autoCompactionMode: oneOf("The unit of `autoCompactionRetention`: time or revisions. Needs etcd 3.3.", [
      "periodic",
      "revision",
    ]),
    autoCompactionRetention: string(
      "How much history etcd keeps: hours (`8`), a duration (`30m`) or a number of revisions. Absent: all of it.",
      { longest: 64 },
    ),
    snapshotCount: integer(
      "Transactions between two snapshots of the raft log. Absent: etcd's own, 10000 since 3.6 and 100000 before.",
      {
        min: 1,
      },
    ),
    extraArgs: array(
      "More flags of etcd, each as `--flag=value`. Flags that the operator sets are refused.",
      string("A flag, as in `--heartbeat-interval=200`.", { longest: 1024 }),
      { most: 64, rules: [rules.argForm, rules.ownedFlags, rules.typedFlags] },
    ),
  },
  { rules: [rules.compactionRetention, rules.compactionMode] },
);

const tls = object(
  "TLS between members and towards clients. Absent: plain text.",
  {
    static: object(
      "Certificates that you create, in Secrets in the namespace of the cluster.",
      {
        member: object("Certificates of the members.", {
          peerSecret: secret(
            "member.peerSecret",
            "Secret with `peer.crt`, `peer.key` and `peer-ca.crt`, or with `tls.crt`, `tls.key` and `ca.crt`, for TLS between members.",
          ),
          serverSecret: secret(
            "member.serverSecret",
            "Secret with `server.crt`, `server.key` and `server-ca.crt`, or with `tls.crt`, `tls.key` and `ca.crt`, for TLS towards clients.",
          ),
        }),
        operatorSecret: secret(
          "operatorSecret",
          "Secret with `etcd-client.crt`, `etcd-client.key` and `etcd-client-ca.crt`, or with `tls.crt`, `tls.key` and `ca.crt`: the client certificate of the operator.",
        ),
      },
      { rules: [rules.serverSecretMissing, rules.operatorSecretMissing] },
    ),
    auto: boolean("The operator creates and renews all certificates."),
  },
  { rules: [rules.autoOrStatic] },
);

const auth = object(
  "How the operator logs in where etcd's own authentication is enabled. Not needed where its client certificate is that of a user with the role root.",
  {
    operatorSecret: secretAt(
      "auth.operatorSecret",
      "Secret with `username` and `password` of an etcd user with the role root.",
    ),
  },
);

const failover = object("How long a member may be down before it is replaced.", {
  unreachableAfterSeconds: defaulted(
    60,
    integer("Seconds since the node of the member last reported, or was found deleted.", { min: 1, max: 86_400 }),
  ),
  crashLoopAfterSeconds: defaulted(
    120,
    integer("Seconds since the etcd container of the member began to crash-loop; it is replaced at its next exit.", {
      min: 1,
      max: 86_400,
    }),
  ),
});

const upgrade = object("How the version of a running cluster is changed.", {
  path: defaulted(
    "Manual",
    oneOf(
      "etcd changes one minor version at a time. Manual: a version that is further away is refused, with the steps to take. Automatic: the operator takes the steps one after another.",
      ["Manual", "Automatic"],
    ),
  ),
});

const keep = (description: string) => defaulted("Retain", oneOf(description, ["Retain", "Delete"]));

const volumeRetention = object(
  "What happens to the volumes of members. Used only with `pod.persistentVolumeClaimSpec`.",
  {
    whenClusterDeleted: keep("When the EtcdCluster is deleted."),
    whenMemberRemoved: keep("When a member is scaled down or replaced."),
  },
);

export const specSchema = object("The desired cluster.", {
  size: required(
    0,
    integer(
      "How many members the cluster has, from 1 to 9. Choose an odd number: four members survive the loss of one, as three do.",
      {
        rules: [rules.size],
      },
    ),
  ),
  repository: defaulted(
    "quay.io/coreos/etcd",
    string("The image without its tag: members run `<repository>:v<version>`.", {
      longest: 512,
      rules: [rules.repositoryWithoutTag],
    }),
  ),
  version: defaulted(
    "3.2.13",
    string(
      "The version of etcd. Always set it: the default is that of etcd-operator 0.9, so that its manifests keep their meaning.",
      {
        longest: 128,
        rules: [rules.versionForm],
      },
    ),
  ),
  image: string(
    "The whole image reference, instead of `repository` and its tag. The image must contain etcd of `version`.",
    { longest: 1024, rules: [rules.imageForm] },
  ),
  paused: defaulted(false, boolean("The operator leaves the cluster alone: it does not heal, scale or update it.")),
  pod: filled(podSchema),
  etcd: filled(etcdSchema),
  TLS: tls,
  auth,
  upgrade: filled(upgrade),
  updateStrategy: defaulted(
    "RollingUpdate",
    oneOf(
      "When members get an edited version or edited settings. RollingUpdate: at once, one member at a time. OnDelete: when you delete their pods.",
      ["RollingUpdate", "OnDelete"],
    ),
  ),
  failover: filled(failover),
  volumeRetention: filled(volumeRetention),
  baseImage: ignored("Of an older etcd-operator, ignored: set `repository`."),
  backup: ignored("Of an older etcd-operator, ignored."),
  restore: ignored("Of an older etcd-operator, ignored."),
  selfHosted: ignored("Of an older etcd-operator, ignored."),
});

export type EtcdClusterSpec = StoredOf<typeof specSchema>;
export type CompleteSpec = CompleteOf<typeof specSchema>;
export type PodPolicy = CompleteOf<typeof podSchema>;
