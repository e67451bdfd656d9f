// Manifests that users and clients of etcd-operator 0.9 send; each must be accepted as it is. They follow its
// documentation and how its Go types are serialised, with zero values, empty strings and nulls.

const head = { apiVersion: "etcd.database.coreos.com/v1beta2", kind: "EtcdCluster" };

interface Manifest {
  readonly what: string;
  readonly object: Readonly<Record<string, unknown>> & {
    readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  };
}

export const oldManifests: readonly Manifest[] = [
  {
    what: "the smallest",
    object: { ...head, metadata: { name: "example-etcd-cluster" }, spec: { size: 3 } },
  },
  {
    what: "the example, for all namespaces",
    object: {
      ...head,
      metadata: {
        name: "example-etcd-cluster-wide",
        annotations: { "etcd.database.coreos.com/scope": "clusterwide" },
      },
      spec: { size: 3, version: "3.2.13" },
    },
  },
  {
    what: "with TLS",
    object: {
      ...head,
      metadata: { name: "example" },
      spec: {
        size: 3,
        TLS: {
          static: {
            member: { peerSecret: "etcd-peer-tls", serverSecret: "etcd-server-tls" },
            operatorSecret: "etcd-client-tls",
          },
        },
      },
    },
  },
  {
    what: "with TLS between members only",
    object: {
      ...head,
      metadata: { name: "peers" },
      spec: { size: 3, TLS: { static: { member: { peerSecret: "etcd-peer-tls" } } } },
    },
  },
  {
    what: "with every setting of pods",
    object: {
      ...head,
      metadata: { name: "pods" },
      spec: {
        size: 5,
        repository: "registry.example.com:5000/mirror/etcd",
        version: "v3.3.10",
        paused: true,
        pod: {
          labels: { team: "storage", "example.com/tier": "" },
          annotations: { "prometheus.io/scrape": "true", "etcd.version": "mine" },
          nodeSelector: { disktype: "ssd" },
          affinity: { nodeAffinity: {} },
          antiAffinity: true,
          resources: { limits: { cpu: 1, memory: "512Mi" }, requests: { cpu: "200m" } },
          tolerations: [{ key: "etcd", operator: "Exists", effect: "NoSchedule" }],
          etcdEnv: [
            { name: "ETCD_AUTO_COMPACTION_RETENTION", value: "1" },
            { name: "ETCD_NAME", value: "ignored by old etcd" },
          ],
          persistentVolumeClaimSpec: {
            storageClassName: "",
            accessModes: ["ReadWriteOnce"],
            resources: { requests: { storage: "1Gi" } },
          },
          busyboxImage: "busybox:1.28.0-glibc",
          securityContext: { runAsNonRoot: true, runAsUser: 9000, fsGroup: 9000 },
          DNSTimeoutInSecond: 30,
          ClusterDomain: ".cluster.local",
          automountServiceAccountToken: false,
        },
      },
    },
  },
  {
    what: "by the Go client, with its zero values",
    object: {
      ...head,
      metadata: { name: "zeros", creationTimestamp: null },
      spec: {
        size: 1,
        repository: "",
        version: "",
        pod: { resources: {}, ClusterDomain: "", labels: null, affinity: null, busyboxImage: "" },
        TLS: null,
      },
      status: { phase: "", size: 0, members: {}, currentVersion: "", targetVersion: "" },
    },
  },
  {
    what: "with empty TLS",
    object: {
      ...head,
      metadata: { name: "empty-tls" },
      spec: { size: 1, TLS: { static: { member: { peerSecret: "", serverSecret: "" }, operatorSecret: "" } } },
    },
  },
  {
    what: "with fields of releases before 0.9",
    object: {
      ...head,
      metadata: { name: "legacy" },
      spec: {
        size: 3,
        baseImage: "quay.io/coreos/etcd",
        backup: { backupIntervalInSecond: 1800, storageType: "PersistentVolume", pv: { volumeSizeInMB: 512 } },
        restore: { backupClusterName: "other", storageType: "S3" },
        selfHosted: { bootMemberClientEndpoint: "http://10.0.0.1:12379", skipBootMemberRemoval: true },
      },
    },
  },
  {
    what: "as its operator stored it",
    object: {
      ...head,
      metadata: { name: "stored" },
      spec: {
        size: 3,
        repository: "quay.io/coreos/etcd",
        version: "3.2.13",
        pod: { resources: {}, ClusterDomain: "" },
      },
      status: {
        phase: "Running",
        size: 3,
        serviceName: "stored-client",
        clientPort: 2379,
        members: { ready: ["stored-4qkzfx7wsp", "stored-0001"] },
        conditions: [
          {
            type: "Available",
            status: "True",
            lastUpdateTime: "2018-06-01T10:00:00Z",
            lastTransitionTime: "2018-06-01T10:00:00Z",
            reason: "Cluster available",
          },
        ],
        currentVersion: "3.2.13",
        targetVersion: "",
      },
    },
  },
];
