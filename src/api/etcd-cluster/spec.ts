// What a person asks for with an EtcdCluster: the fields of 2018 under their old names, odd capitals included, and the
// newer ones, all optional. Sentences that refuse a value stand in `rules.ts`.
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

const secret = (path: string, description: string) =>
  string(description, { longest: 253, rules: [rules.secretName(`spec.TLS.static.${path}`)] });

export const podSchema = object("Settings of the pods. Each applies to pods that are made from then on.", {
  labels: map(
    "Labels of the pods. `app` and everything that starts with `etcd_` is the operator's.",
    string("A value."),
    {
      most: 64,
      rules: [rules.reservedLabels],
    },
  ),
  annotations: map("Annotations of the pods. `etcd.version` is the operator's.", string("A value.")),
  nodeSelector: map("Labels that a node must have to be given a member.", string("A value.")),
  affinity: embedded<Affinity>("Where pods may run, relative to nodes and to other pods.", "Affinity"),
  antiAffinity: defaulted(
    false,
    boolean(
      "Never two members on one node. Deprecated: `affinity` and `topologySpreadConstraints` can say more, and `affinity` wins.",
    ),
  ),
  topologySpreadConstraints: embeddedList<TopologySpreadConstraint>(
    "How members are spread over zones or other parts of the Kubernetes cluster.",
    "TopologySpreadConstraint",
  ),
  tolerations: embeddedList<Toleration>("Taints that the pods tolerate.", "Toleration"),
  resources: embedded<ResourceRequirements>("Compute resources of the etcd container.", "ResourceRequirements", {
    emptyIsAbsent: true,
  }),
  etcdEnv: embeddedList<EnvVar>("Environment variables of the etcd container.", "EnvVar"),
  persistentVolumeClaimSpec: embedded<PersistentVolumeClaimSpec>(
    "Each member gets a volume of its own, claimed with this. Without it, data lives as long as the pod does.",
    "PersistentVolumeClaimSpec",
  ),
  securityContext: embedded<PodSecurityContext>("Security settings of the pods.", "PodSecurityContext", {
    emptyIsAbsent: true,
  }),
  priorityClassName: string("The PriorityClass of the pods."),
  serviceAccountName: string("The ServiceAccount of the pods. Its token is not mounted."),
  imagePullSecrets: embeddedList<LocalObjectReference>("Secrets to pull the image with.", "LocalObjectReference"),
  terminationGracePeriodSeconds: defaulted(5, integer("Seconds that etcd gets to stop.", { min: 0, max: 3600 })),
  busyboxImage: string("Of 2018 and not used: no init container waits for DNS any more."),
  DNSTimeoutInSecond: defaulted(0, integer("Of 2018 and not used: no init container waits for DNS any more.")),
  ClusterDomain: defaulted(
    "",
    string("Appended to the DNS names of members, as in `.cluster.local`.", {
      longest: 253,
      rules: [rules.clusterDomain],
    }),
  ),
  automountServiceAccountToken: ignored("Of an old release and ignored: the token is never mounted."),
});

export const etcdSchema = object(
  "Settings of etcd itself.",
  {
    quotaBackendBytes: integer("How large the database may become before it takes no more writes. etcd's own: 2 GiB.", {
      min: 1,
    }),
    autoCompactionMode: oneOf(
      "What `autoCompactionRetention` counts: hours or a duration, or revisions. Since etcd 3.3.",
      ["periodic", "revision"],
    ),
    autoCompactionRetention: string(
      "How much history is kept: hours (`8`) or a duration (`30m`), or a number of revisions. Absent: all of it.",
      { longest: 64 },
    ),
    snapshotCount: integer(
      "Transactions between two snapshots of the raft log. etcd's own: 10000 since 3.6, before 100000.",
      {
        min: 1,
      },
    ),
    extraArgs: array(
      "More flags of etcd, each as `--flag=value`. Those that the operator sets itself are refused.",
      string("As in `--heartbeat-interval=200`.", { longest: 1024 }),
      { most: 64, rules: [rules.argForm, rules.ownedFlags, rules.typedFlags] },
    ),
  },
  { rules: [rules.compactionRetention, rules.compactionMode] },
);

const tls = object(
  "Encryption between members and towards clients. Absent: neither.",
  {
    static: object(
      "Certificates that you make, in Secrets of the cluster's namespace.",
      {
        member: object("Certificates of the members.", {
          peerSecret: secret(
            "member.peerSecret",
            "Secret with `peer.crt`, `peer.key`, `peer-ca.crt`: members talk TLS to each other.",
          ),
          serverSecret: secret(
            "member.serverSecret",
            "Secret with `server.crt`, `server.key`, `server-ca.crt`: members talk TLS to clients.",
          ),
        }),
        operatorSecret: secret(
          "operatorSecret",
          "Secret with `etcd-client.crt`, `etcd-client.key`, `etcd-client-ca.crt`: the operator's own client certificate.",
        ),
      },
      { rules: [rules.serverSecretMissing, rules.operatorSecretMissing] },
    ),
    auto: boolean("The operator makes and renews all certificates."),
  },
  { rules: [rules.autoOrStatic, rules.autoNotYet] },
);

const failover = object("How long a member may be away before it is replaced.", {
  unreachableAfterSeconds: defaulted(
    60,
    integer("Seconds since the member's node was last heard of, or was found to be gone.", { min: 1, max: 86_400 }),
  ),
  crashLoopAfterSeconds: defaulted(
    120,
    integer("Seconds since the member's etcd began to end again and again.", { min: 1, max: 86_400 }),
  ),
});

const keep = (description: string) => defaulted("Retain", oneOf(description, ["Retain", "Delete"]));

const volumeRetention = object(
  "What becomes of members' volumes. It matters only with `pod.persistentVolumeClaimSpec`.",
  {
    whenClusterDeleted: keep("When the EtcdCluster is deleted."),
    whenMemberRemoved: keep("When a member is removed for good: scaled down or replaced."),
  },
);

export const specSchema = object("What is wanted.", {
  size: required(
    0,
    integer(
      "How many members there shall be, from 1 to 9. Choose an odd number: four members survive the loss of one, as three do.",
      {
        rules: [rules.size],
      },
    ),
  ),
  repository: defaulted(
    "quay.io/coreos/etcd",
    string("Where the image comes from: it is `<repository>:v<version>`.", {
      longest: 512,
      rules: [rules.repositoryWithoutTag],
    }),
  ),
  version: defaulted(
    "3.2.13",
    string(
      "The version of etcd. Always set it: the default is that of 2018, and is kept so that manifests of then mean the same.",
      {
        longest: 128,
        rules: [rules.versionForm],
      },
    ),
  ),
  image: string(
    "The whole image reference, instead of the one made of `repository` and `version`. It must hold etcd of `version`.",
    { longest: 1024, rules: [rules.imageForm] },
  ),
  paused: defaulted(false, boolean("The operator leaves the cluster alone: nothing is healed, scaled or upgraded.")),
  pod: filled(podSchema),
  etcd: filled(etcdSchema),
  TLS: tls,
  failover: filled(failover),
  volumeRetention: filled(volumeRetention),
  baseImage: ignored("Of an old release and ignored: set `repository`."),
  backup: ignored("Of an old release and ignored: make an EtcdBackup."),
  restore: ignored("Of an old release and ignored: make an EtcdRestore."),
  selfHosted: ignored("Of an old release and ignored."),
});

export type EtcdClusterSpec = StoredOf<typeof specSchema>;
export type CompleteSpec = CompleteOf<typeof specSchema>;
export type PodPolicy = CompleteOf<typeof podSchema>;
export type EtcdSettings = CompleteOf<typeof etcdSchema>;
export type TLSPolicy = CompleteOf<typeof tls>;
