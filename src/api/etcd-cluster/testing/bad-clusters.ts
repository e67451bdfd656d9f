// Invalid EtcdClusters, each with the exact sentences that say what is wrong, and with what the API server does.

export interface BadCluster {
  readonly what: string;
  readonly name?: string;
  readonly spec?: unknown;
  /** All that `problemsOf` says, in order. */
  readonly problems: readonly string[];
  /**
   * What the API server says: by default the first of the problems. Its own words where the schema refuses; undefined
   * where it cannot see the problem and accepts the object.
   */
  readonly server?: { readonly says: string | undefined };
}

const accepts = { says: undefined } as const;
const sizeSentence =
  "spec.size must be from 1 to 9: choose 3 or 5, or 1 if an outage does no harm. To remove the cluster, delete the EtcdCluster.";
const versionSentence =
  "spec.version must be a full version of etcd, for example 3.6.16. For an image with another tag, set spec.image as well.";
const labelSentence =
  "spec.pod.labels must not contain `app` or labels that start with `etcd_`: the operator finds its pods by them. Rename the label.";
const ownedSentence =
  "spec.etcd.extraArgs must not contain flags that the operator sets itself, or that could lose data (names, addresses, certificates, bootstrap, force-new-cluster, unsafe-no-fsync): remove them.";
const typedSentence =
  "spec.etcd.extraArgs must not contain flags that have a field of their own: use spec.etcd.quotaBackendBytes, autoCompactionMode, autoCompactionRetention or snapshotCount.";
const formSentence =
  "spec.etcd.extraArgs must contain flags in the form --flag=value, one per entry: join a flag and its value with an equals sign.";
const repositorySentence =
  "spec.repository must be an image without tag and digest, for example quay.io/coreos/etcd: the tag comes from spec.version. Set a full image reference in spec.image.";
const imageSentence =
  "spec.image must be an image reference, for example registry.example.com/etcd:3.6.16-patched, without spaces and without a scheme such as https://.";
const retentionSentence =
  "spec.etcd.autoCompactionRetention must be a number of hours or a duration such as 30m; with autoCompactionMode revision, a number of revisions.";
const domainSentence =
  "spec.pod.ClusterDomain must be the domain of the Kubernetes cluster, for example .cluster.local, without a trailing dot.";
const serverMissing =
  "spec.TLS.static.operatorSecret is set, but spec.TLS.static.member.serverSecret is not: set both for TLS with clients, or neither.";
const operatorMissing =
  "spec.TLS.static.member.serverSecret is set, but spec.TLS.static.operatorSecret is not: the operator needs a client certificate as well. Set both or neither.";
const serviceNameSentence =
  "metadata.name must start with a letter and contain only lower-case letters, digits and dashes, because a Service gets the same name.";

const modern = { size: 3, version: "3.6.16" };
const args = (...extraArgs: unknown[]): unknown => ({ ...modern, etcd: { extraArgs } });
const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

export const badClusters: readonly BadCluster[] = [
  // The object itself
  {
    what: "a name of 53 characters",
    name: "a".repeat(53),
    spec: modern,
    problems: [
      "metadata.name must not be longer than 52 characters: member names are derived from it. Choose a shorter name.",
    ],
  },
  { what: "a name with a dot", name: "my.etcd", spec: modern, problems: [serviceNameSentence] },
  { what: "a name that starts with a digit", name: "1etcd", spec: modern, problems: [serviceNameSentence] },
  { what: "no spec", problems: ["spec is missing: it must be set."], server: { says: "spec: Required value" } },

  // Size
  {
    what: "no size",
    spec: {},
    problems: ["spec.size is missing: it must be set."],
    server: { says: "spec.size: Required value" },
  },
  { what: "size 0", spec: { size: 0 }, problems: [sizeSentence] },
  { what: "size -1", spec: { size: -1 }, problems: [sizeSentence] },
  { what: "size 10", spec: { size: 10 }, problems: [sizeSentence] },
  {
    what: "a size in quotes",
    spec: { size: "3" },
    problems: ["spec.size must be a whole number."],
    server: { says: "must be of type integer" },
  },
  {
    what: "half a member",
    spec: { size: 2.5 },
    problems: ["spec.size must be a whole number."],
    server: { says: "must be of type integer" },
  },

  // Image and version
  { what: "a version without a patch", spec: { size: 3, version: "3.6" }, problems: [versionSentence] },
  { what: "latest", spec: { size: 3, version: "latest" }, problems: [versionSentence] },
  { what: "a version with a space", spec: { size: 3, version: "3.6.16 " }, problems: [versionSentence] },
  { what: "a version with build metadata", spec: { size: 3, version: "3.6.16+git" }, problems: [versionSentence] },
  {
    what: "an etcd that is too old",
    spec: { size: 3, version: "3.1.10" },
    problems: ["spec.version is 3.1.10, but the operator supports only etcd 3.2.0 and newer 3.x: choose one of those."],
    server: accepts,
  },
  {
    what: "an etcd of another major",
    spec: { size: 3, version: "4.0.0" },
    problems: ["spec.version is 4.0.0, but the operator supports only etcd 3.2.0 and newer 3.x: choose one of those."],
    server: accepts,
  },
  {
    what: "a repository with a tag",
    spec: { ...modern, repository: "quay.io/coreos/etcd:v3.6.16" },
    problems: [repositorySentence],
  },
  {
    what: "a repository with a scheme",
    spec: { ...modern, repository: "https://quay.io/coreos/etcd" },
    problems: [repositorySentence],
  },
  { what: "an image with a space", spec: { ...modern, image: "quay.io/etcd :v3" }, problems: [imageSentence] },
  { what: "an image with a scheme", spec: { ...modern, image: "docker://quay.io/etcd:v3" }, problems: [imageSentence] },

  // Pods
  { what: "the label app", spec: { ...modern, pod: { labels: { app: "mine" } } }, problems: [labelSentence] },
  { what: "a label etcd_x", spec: { ...modern, pod: { labels: { etcd_x: "mine" } } }, problems: [labelSentence] },
  {
    what: "an invalid label",
    spec: { ...modern, pod: { labels: { "a b": "c" } } },
    problems: ['spec.pod.labels contains "a b", which is not a valid label key: rename it.'],
    server: accepts,
  },
  {
    what: "a label value with a slash",
    spec: { ...modern, pod: { nodeSelector: { disk: "a/b" } } },
    problems: [
      'spec.pod.nodeSelector contains "disk: a/b", which is not a valid label value: use at most 63 letters, digits, dashes, dots and underscores.',
    ],
    server: accepts,
  },
  {
    what: "a label value that is a number",
    spec: { ...modern, pod: { labels: { tier: 1 } } },
    problems: ["spec.pod.labels[tier] must be a string."],
    server: { says: "must be of type string" },
  },
  {
    what: "an invalid annotation",
    spec: { ...modern, pod: { annotations: { "a b": "c" } } },
    problems: ['spec.pod.annotations contains "a b", which is not a valid annotation key: rename it.'],
    server: accepts,
  },
  {
    what: "a text that is not a quantity",
    spec: { ...modern, pod: { resources: { requests: { cpu: "two" } } } },
    problems: [
      'spec.pod.resources.requests.cpu is "two", which is not a valid quantity: use a value such as 500m (half a core) or 2Gi.',
    ],
    server: accepts,
  },
  {
    what: "a negative quantity",
    spec: { ...modern, pod: { resources: { limits: { memory: "-1Gi" } } } },
    problems: ["spec.pod.resources.limits.memory is -1Gi: it must not be negative."],
    server: accepts,
  },
  {
    what: "a request above its limit",
    spec: { ...modern, pod: { resources: { requests: { cpu: 2 }, limits: { cpu: "1500m" } } } },
    problems: [
      "spec.pod.resources.requests.cpu is 2, which is more than spec.pod.resources.limits.cpu (1500m): lower the request or raise the limit.",
    ],
    server: accepts,
  },
  {
    what: "a domain with a dot at its end",
    spec: { ...modern, pod: { ClusterDomain: ".cluster.local." } },
    problems: [domainSentence],
  },
  {
    what: "a domain with capitals",
    spec: { ...modern, pod: { ClusterDomain: "Cluster.Local" } },
    problems: [domainSentence],
  },
  {
    what: "tolerations that are not a list",
    spec: { ...modern, pod: { tolerations: {} } },
    problems: ["spec.pod.tolerations must be a list."],
    server: { says: "must be of type array" },
  },
  {
    what: "an affinity that is not an object",
    spec: { ...modern, pod: { affinity: "hard" } },
    problems: ["spec.pod.affinity must be an object."],
    server: { says: "must be of type object" },
  },
  {
    what: "a negative grace period",
    spec: { ...modern, pod: { terminationGracePeriodSeconds: -1 } },
    problems: ["spec.pod.terminationGracePeriodSeconds must be at least 0."],
    server: { says: "should be greater than or equal to 0" },
  },
  {
    what: "a claim without a size",
    spec: { ...modern, pod: { persistentVolumeClaimSpec: { accessModes: ["ReadWriteOnce"] } } },
    problems: [
      "spec.pod.persistentVolumeClaimSpec.resources.requests.storage is missing: set the size of the volume, for example 10Gi.",
    ],
    server: accepts,
  },
  {
    what: "a claim without access modes",
    spec: { ...modern, pod: { persistentVolumeClaimSpec: { ...claim, accessModes: [] } } },
    problems: ["spec.pod.persistentVolumeClaimSpec.accessModes is missing: set it to [ReadWriteOnce]."],
    server: accepts,
  },
  {
    what: "a variable that makes etcd start a new cluster",
    spec: { size: 3, pod: { etcdEnv: [{ name: "ETCD_FORCE_NEW_CLUSTER", value: "true" }] } },
    problems: ["spec.pod.etcdEnv contains ETCD_FORCE_NEW_CLUSTER, which only the operator may set: remove it."],
    server: accepts,
  },
  {
    what: "a variable that a newer etcd does not start with",
    spec: { ...modern, pod: { etcdEnv: [{ name: "ETCD_NAME", value: "me" }] } },
    problems: ["spec.pod.etcdEnv contains ETCD_NAME, which only the operator may set: remove it."],
    server: accepts,
  },
  {
    what: "a setting both as a field and as a variable",
    spec: {
      ...modern,
      etcd: { quotaBackendBytes: 1024 },
      pod: { etcdEnv: [{ name: "ETCD_QUOTA_BACKEND_BYTES", value: "2048" }] },
    },
    problems: [
      "spec.pod.etcdEnv contains ETCD_QUOTA_BACKEND_BYTES, and spec.etcd.quotaBackendBytes is set as well: remove one of them.",
    ],
    server: accepts,
  },
  {
    what: "a setting both as a flag and as a variable",
    spec: {
      ...modern,
      etcd: { extraArgs: ["--heartbeat-interval=200"] },
      pod: { etcdEnv: [{ name: "ETCD_HEARTBEAT_INTERVAL", value: "300" }] },
    },
    problems: [
      "spec.pod.etcdEnv contains ETCD_HEARTBEAT_INTERVAL, and spec.etcd.extraArgs contains --heartbeat-interval, which is the same setting for etcd: remove one of them.",
    ],
    server: accepts,
  },
  {
    what: "a setting both as a flag and as a variable with its older name",
    spec: {
      ...modern,
      etcd: { extraArgs: ["--corrupt-check-time=1h"] },
      pod: { etcdEnv: [{ name: "ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME", value: "2h" }] },
    },
    problems: [
      "spec.pod.etcdEnv contains ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME, and spec.etcd.extraArgs contains --corrupt-check-time, which is the same setting for etcd: remove one of them.",
    ],
    server: accepts,
  },
  {
    what: "a flag of an old etcd both as a flag and as a variable",
    spec: {
      size: 3,
      version: "3.4.23",
      etcd: { extraArgs: ["--experimental-initial-corrupt-check"] },
      pod: { etcdEnv: [{ name: "ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK", value: "false" }] },
    },
    problems: [
      "spec.pod.etcdEnv contains ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK, and spec.etcd.extraArgs contains --experimental-initial-corrupt-check, which is the same setting for etcd: remove one of them.",
    ],
    server: accepts,
  },
  {
    what: "feature gates both as a flag that became one and as a variable",
    spec: {
      ...modern,
      etcd: { extraArgs: ["--experimental-initial-corrupt-check=true"] },
      pod: { etcdEnv: [{ name: "ETCD_FEATURE_GATES", value: "LeaseCheckpoint=true" }] },
    },
    problems: [
      "spec.pod.etcdEnv contains ETCD_FEATURE_GATES, and spec.etcd.extraArgs contains --experimental-initial-corrupt-check, which is the same setting for etcd: remove one of them.",
    ],
    server: accepts,
  },
  {
    what: "a feature gate as an argument and its older flag as a variable",
    spec: {
      ...modern,
      etcd: { extraArgs: ["--feature-gates=InitialCorruptCheck=true"] },
      pod: { etcdEnv: [{ name: "ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK", value: "true" }] },
    },
    problems: [
      "spec.pod.etcdEnv contains ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK, and spec.etcd.extraArgs contains the feature gate InitialCorruptCheck, which is the same setting for etcd: remove one of them.",
    ],
    server: accepts,
  },
  ...["ETCD_INITIAL_CLUSTER", "ETCD_INITIAL_CLUSTER_STATE", "ETCD_MAX_LEARNERS", "ETCD_LISTEN_METRICS_URLS"].flatMap(
    (name) =>
      ["3.2.13", "3.6.16"].map((version) => ({
        what: `${name} in the environment of etcd ${version}`,
        spec: { size: 3, version, pod: { etcdEnv: [{ name, value: "1" }] } },
        problems: [`spec.pod.etcdEnv contains ${name}, which only the operator may set: remove it.`],
        server: accepts,
      })),
  ),

  // etcd
  { what: "a flag that the operator sets", spec: args("--name=me"), problems: [ownedSentence] },
  { what: "a flag that loses data", spec: args("--unsafe-no-fsync"), problems: [ownedSentence] },
  {
    what: "a flag about certificates",
    spec: args("--heartbeat-interval=200", "--cert-file=/tmp/x"),
    problems: [ownedSentence],
  },
  { what: "a flag that has a field", spec: args("--quota-backend-bytes=1"), problems: [typedSentence] },
  { what: "a flag and its value apart", spec: args("--heartbeat-interval", "200"), problems: [formSentence] },
  { what: "a flag with one dash", spec: args("-heartbeat-interval=200"), problems: [formSentence] },
  {
    what: "a flag that the operator sets, with one dash",
    spec: args("-name=me"),
    problems: [formSentence, ownedSentence],
  },
  {
    what: "a flag that no etcd knows",
    spec: args("--make-it-fast"),
    problems: [
      "spec.etcd.extraArgs contains --make-it-fast, which etcd 3.6.16 does not have: remove it, or choose a version that has it.",
    ],
    server: accepts,
  },
  {
    what: "a flag that loses data, in disguise",
    spec: args("--experimental-force-new-cluster"),
    problems: [
      "spec.etcd.extraArgs contains --experimental-force-new-cluster, which etcd 3.6.16 does not have: remove it, or choose a version that has it.",
    ],
    server: accepts,
  },
  {
    what: "a feature gate of a newer etcd",
    spec: args("--feature-gates=LeaseCheckpoint=true,PriorityRequest=true"),
    problems: [
      "spec.etcd.extraArgs contains the feature gate PriorityRequest, which etcd 3.6.16 does not have: remove it, or choose a version that has it.",
    ],
    server: accepts,
  },
  {
    what: "a flag with nothing after its equals sign",
    spec: args("--log-level="),
    problems: ["spec.etcd.extraArgs contains --log-level with an empty value: set a value or remove it."],
    server: accepts,
  },
  {
    what: "a flag that is not a string",
    spec: args(5),
    problems: ["spec.etcd.extraArgs[0] must be a string."],
    server: { says: "must be of type string" },
  },
  {
    what: "too many flags",
    spec: args(...Array.from({ length: 65 }, () => "--heartbeat-interval=200")),
    problems: ["spec.etcd.extraArgs must not have more than 64 entries."],
    server: { says: "must have at most 64 items" },
  },
  {
    what: "a quota of 0",
    spec: { ...modern, etcd: { quotaBackendBytes: 0 } },
    problems: ["spec.etcd.quotaBackendBytes must be at least 1."],
    server: { says: "should be greater than or equal to 1" },
  },
  {
    what: "an unknown mode of compaction",
    spec: { ...modern, etcd: { autoCompactionMode: "hourly", autoCompactionRetention: "1" } },
    problems: ["spec.etcd.autoCompactionMode must be one of: periodic, revision."],
    server: { says: 'supported values: "periodic", "revision"' },
  },
  {
    what: "a mode of compaction alone",
    spec: { ...modern, etcd: { autoCompactionMode: "revision" } },
    problems: [
      "spec.etcd.autoCompactionMode has no effect without spec.etcd.autoCompactionRetention: set both or neither.",
    ],
  },
  {
    what: "a duration of revisions",
    spec: { ...modern, etcd: { autoCompactionMode: "revision", autoCompactionRetention: "5m" } },
    problems: [retentionSentence],
  },
  {
    what: "a text that is not a duration",
    spec: { ...modern, etcd: { autoCompactionRetention: "5 minutes" } },
    problems: [retentionSentence],
  },
  {
    what: "a duration for an etcd that counts hours",
    spec: { size: 3, version: "3.2.13", etcd: { autoCompactionRetention: "30m" } },
    problems: [
      "etcd 3.2.13 can only compact by hours: remove spec.etcd.autoCompactionMode, and set spec.etcd.autoCompactionRetention to a number of hours.",
    ],
    server: accepts,
  },

  // TLS
  {
    what: "a client certificate without server certificates",
    spec: { ...modern, TLS: { static: { operatorSecret: "client" } } },
    problems: [serverMissing],
  },
  {
    what: "a client certificate with an empty server Secret",
    spec: { ...modern, TLS: { static: { member: { serverSecret: "" }, operatorSecret: "client" } } },
    problems: [serverMissing],
  },
  {
    what: "server certificates without a client certificate",
    spec: { ...modern, TLS: { static: { member: { serverSecret: "server" } } } },
    problems: [operatorMissing],
  },
  {
    what: "a Secret of another namespace",
    spec: { ...modern, TLS: { static: { member: { peerSecret: "other/peer" } } } },
    problems: [
      "spec.TLS.static.member.peerSecret must be the name of a Secret in the namespace of the EtcdCluster, without a namespace prefix.",
    ],
  },
  {
    what: "a Secret for the login that is in another namespace",
    spec: { ...modern, auth: { operatorSecret: "other/root" } },
    problems: [
      "spec.auth.operatorSecret must be the name of a Secret in the namespace of the EtcdCluster, without a namespace prefix.",
    ],
  },
  {
    what: "certificates from the operator and from a person",
    spec: { ...modern, TLS: { auto: true, static: { member: { peerSecret: "peer" } } } },
    problems: [
      "spec.TLS.auto and spec.TLS.static are mutually exclusive: either the operator creates the certificates or you do. Remove one of them.",
    ],
  },

  // Failover and volumes
  {
    what: "no time for a node to come back",
    spec: { ...modern, failover: { unreachableAfterSeconds: 0 } },
    problems: ["spec.failover.unreachableAfterSeconds must be at least 1."],
    server: { says: "should be greater than or equal to 1" },
  },
  {
    what: "more than a day for crashes",
    spec: { ...modern, failover: { crashLoopAfterSeconds: 86_401 } },
    problems: ["spec.failover.crashLoopAfterSeconds must be at most 86400."],
    server: { says: "should be less than or equal to 86400" },
  },
  {
    what: "an unknown volume retention",
    spec: { ...modern, volumeRetention: { whenClusterDeleted: "Keep" } },
    problems: ["spec.volumeRetention.whenClusterDeleted must be one of: Retain, Delete."],
    server: { says: 'supported values: "Retain", "Delete"' },
  },
  {
    what: "a boolean in quotes",
    spec: { ...modern, paused: "yes" },
    problems: ["spec.paused must be true or false."],
    server: { says: "must be of type boolean" },
  },
  {
    what: "several things at once",
    spec: { size: 0, version: "x", pod: { labels: { app: "a" } } },
    problems: [sizeSentence, versionSentence, labelSentence],
  },
];
