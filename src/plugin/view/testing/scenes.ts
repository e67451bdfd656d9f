// Observed clusters in the states that people meet, for the tests of what is shown.
import type { EtcdBackup } from "../../../api/etcd-backup/etcd-backup.ts";
import type { EtcdCluster, EtcdClusterStatus } from "../../../api/etcd-cluster/etcd-cluster.ts";
import type { Node, Pod } from "../../../kube/objects/kinds.ts";
import { printableValue } from "../../../kube/objects/printable.ts";
import type { Figures } from "../../observe/figures.ts";
import type { Found, FoundFigures, Observed } from "../../observe/observe.ts";

export const now: number = Date.parse("2026-11-17T12:00:00Z");
const MiB = 1024 ** 2;
const ago = (minutes: number): string => new Date(now - minutes * 60_000).toISOString().replace(".000Z", "Z");
const found = <T>(value: T): Found<T> => ({ t: "found", value });

const names = ["my-etcd-2b7kq9xw4c", "my-etcd-8vfm5hj2zd", "my-etcd-gp6tsn7rbk"] as const;

type ConditionRow = NonNullable<EtcdClusterStatus["conditions"]>[number];

function condition(type: string, status: "True" | "False", reason: string, message = "", minutes = 95): ConditionRow {
  return { type, status, reason, message, lastTransitionTime: ago(minutes), observedGeneration: 3 };
}

const settled: readonly ConditionRow[] = [
  condition("Available", "True", "Cluster available"),
  condition("Scaling", "False", "Size reached"),
  condition("Upgrading", "False", "Not upgrading"),
  condition("Recovering", "False", "All members healthy"),
  condition("Ready", "True", "AllMembersReady", "All 3 members are healthy voters."),
];

function withConditions(...changed: readonly ConditionRow[]): ConditionRow[] {
  return settled.map((one) => changed.find(({ type }) => type === one.type) ?? one);
}

function cluster(spec: Partial<EtcdCluster["spec"]>, status: EtcdClusterStatus): EtcdCluster {
  return {
    metadata: {
      name: "my-etcd",
      namespace: "default",
      uid: "u",
      generation: 3,
      creationTimestamp: ago(5_000),
    },
    spec: { size: 3, version: "3.6.16", ...spec },
    status: {
      phase: "Running",
      size: 3,
      ready: "3/3",
      voters: [...names],
      leader: names[1],
      currentVersion: "3.6.16",
      updatedMembers: 3,
      dbSize: 40 * MiB,
      dbSizeInUse: 24 * MiB,
      dbQuota: 2048 * MiB,
      observedGeneration: 3,
      conditions: [...settled],
      ...status,
    },
  };
}

interface PodRow {
  readonly node?: number;
  readonly minutes?: number;
  readonly ready?: boolean;
  readonly restarts?: number;
  readonly version?: string;
  readonly waiting?: string;
  readonly leaving?: true;
}

function pod(name: string, row: PodRow = {}): Pod {
  const { node = names.indexOf(name as never), minutes = 5_000, ready = true, restarts = 0, waiting } = row;
  return {
    metadata: {
      name,
      namespace: "default",
      creationTimestamp: ago(minutes),
      annotations: { "etcd.version": row.version ?? "3.6.16" },
      ...(row.leaving && { deletionTimestamp: ago(0) }),
    },
    spec: {
      nodeName: `node-${node}`,
      containers: [{ name: "etcd", ports: [{ name: "metrics", containerPort: 2381 }] }],
    },
    status: {
      phase: "Running",
      podIP: `10.0.0.${node}`,
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
      containerStatuses: [
        {
          name: "etcd",
          image: "",
          imageID: "",
          ready,
          restartCount: restarts,
          state: waiting === undefined ? { running: {} } : { waiting: { reason: waiting } },
        },
      ],
    },
  };
}

const nodes: readonly Node[] = [0, 1, 2].map((at) => ({
  metadata: { name: `node-${at}`, labels: { "topology.kubernetes.io/zone": `zone-${"abc"[at]}` } },
}));

function figures(more: Figures = {}): Found<Figures> {
  return found({
    isLeader: false,
    isLearner: false,
    hasLeader: true,
    version: "3.6.16",
    dbSize: 40 * MiB,
    dbInUse: 24 * MiB,
    quota: 2048 * MiB,
    committed: 120_345,
    applied: 120_345,
    ...more,
  });
}

const nightly: EtcdBackup = {
  metadata: { name: "nightly", namespace: "default" },
  spec: {
    clusterRef: { name: "my-etcd" },
    storageType: "S3",
    s3: { path: "bucket/my-etcd" },
    backupPolicy: { schedule: "0 3 * * *" },
  },
  status: {
    phase: "Scheduled",
    succeeded: true,
    lastBackup: { path: "bucket/my-etcd_1", takenAt: ago(540), sizeBytes: 40 * MiB },
    lastVerified: { path: "bucket/my-etcd_1", verifiedAt: ago(539) },
    nextRun: "2026-11-18T03:00:00Z",
  },
};

function scene(of: EtcdCluster, pods: readonly Pod[], more: Partial<Observed> = {}): Observed {
  return {
    cluster: of,
    pods: found(pods),
    nodes: found(nodes),
    claims: found([]),
    events: found([]),
    backups: found([nightly]),
    restores: found([]),
    operator: found({ t: "runs", namespace: "default" }),
    figures: new Map(
      pods.map(({ metadata }) => [metadata?.name ?? "", figures({ isLeader: metadata?.name === names[1] })]),
    ),
    now,
    ...more,
  };
}

const [first, second, third] = names;
const joining = "my-etcd-xk4d9b2wqm";

const healing = "Not healthy: my-etcd-gp6tsn7rbk.";
const rolling =
  "1 of 3 members have the version and settings of the spec; next: my-etcd-8vfm5hj2zd (it runs 3.6.16), my-etcd-gp6tsn7rbk (it runs 3.6.16).";
const lost =
  "1 of 3 voters answer, and a majority is needed: nothing can be written. The cluster continues by itself as soon as enough of its pods run again: find out what keeps them from running.";
const restoring = "The EtcdRestore my-etcd replaces the data: the members that were there are being stopped.";

/** As a tenant could write it, and as it enters the plugin. */
const nasty = printableValue(
  "It is \u001B[2J\u001B[Hgone:\r\nAll 3 members are \u001B[32mhealthy\u001B[39m \u001B]8;;http://evil\u001B\\here\u001B]8;;\u0007\u009B1A \u202Eyletelpmoc\u202C.",
);

export const scenes: Readonly<Record<string, Observed>> = {
  healthy: scene(
    cluster({}, {}),
    names.map((name) => pod(name)),
  ),
  healing: scene(
    cluster(
      {},
      {
        ready: "2/3",
        voters: [first, second],
        updatedMembers: 2,
        conditions: withConditions(
          condition("Ready", "False", "MembersUnhealthy", healing, 1),
          condition("Recovering", "True", "Members lost", "Being replaced: my-etcd-gp6tsn7rbk.", 1),
        ),
      },
    ),
    [pod(first, { restarts: 2 }), pod(second), pod(joining, { node: 2, minutes: 0.3, ready: false })],
    {
      figures: new Map([
        [first, figures()],
        [second, figures({ isLeader: true })],
        [joining, figures({ isLearner: true, applied: 118_000, dbSize: 22 * MiB, dbInUse: 22 * MiB })],
      ]),
    },
  ),
  upgrading: scene(
    cluster(
      { version: "3.7.3" },
      {
        targetVersion: "3.7.3",
        updatedMembers: 1,
        conditions: withConditions(
          condition("Ready", "False", "Updating", rolling, 2),
          condition("Upgrading", "True", "Cluster upgrading", `upgrading to 3.7.3: ${rolling}`, 2),
        ),
      },
    ),
    [pod(first, { version: "3.7.3", restarts: 1 }), pod(second), pod(third)],
    {
      figures: new Map([
        [first, figures({ version: "3.7.3" })],
        [second, figures({ isLeader: true })],
        [third, figures()],
      ]),
    },
  ),
  "quorum-lost": scene(
    cluster(
      {},
      {
        ready: "0/3",
        conditions: withConditions(
          condition("Available", "False", "QuorumLost", lost, 7),
          condition("Ready", "False", "QuorumLost", lost, 7),
          condition("Recovering", "True", "Disaster recovery", lost, 7),
        ),
      },
    ),
    [pod(first), pod(second, { ready: false, restarts: 14, waiting: "CrashLoopBackOff" })],
    {
      figures: new Map<string, FoundFigures>([
        [first, figures({ hasLeader: false })],
        [second, { t: "silent", why: "no answer" }],
      ]),
      backups: found([]),
    },
  ),
  tls: scene(
    cluster(
      { TLS: { auto: true } },
      {
        certificates: [
          { use: "peer", notAfter: "2027-02-10T12:00:00Z" },
          { use: "server", notAfter: "2026-12-06T12:00:00Z" },
          { use: "operator", notAfter: "2026-11-20T12:00:00Z" },
        ],
      },
    ),
    names.map((name) => pod(name)),
  ),
  restoring: scene(
    cluster(
      {},
      {
        ready: "0/3",
        restore: { name: "my-etcd", uid: "r", phase: "Stopping" },
        conditions: withConditions(
          condition("Available", "False", "Restoring", restoring, 0.5),
          condition("Ready", "False", "Restoring", restoring, 0.5),
        ),
      },
    ),
    names.map((name) => pod(name, { leaving: true })),
    {
      figures: new Map(),
      restores: found([
        {
          metadata: { name: "my-etcd", namespace: "default" },
          spec: { etcdCluster: { name: "my-etcd" } },
          status: { phase: "Restoring", message: "The members that were there are being stopped." },
        },
      ]),
    },
  ),
  nasty: scene(
    cluster(
      {},
      { ready: "2/3", conditions: withConditions(condition("Ready", "False", "MembersUnhealthy", nasty, 1)) },
    ),
    [pod(first), pod(second), pod(third, { ready: false, version: printableValue("3.6\u001B[8m.16") })],
    {
      figures: new Map<string, FoundFigures>([
        [first, figures()],
        [second, figures({ isLeader: true })],
        [third, { t: "missing", why: nasty }],
      ]),
      backups: found([{ ...nightly, status: { ...nightly.status, phase: "Failed", Reason: nasty } }]),
    },
  ),
  forbidden: scene(cluster({ paused: true }, { members: { ready: [...names], unready: [] } }), [], {
    pods: { t: "missing", why: "you cannot list pods in the namespace default" },
    nodes: { t: "missing", why: "you cannot list nodes at the cluster scope" },
    backups: { t: "missing", why: "you cannot list etcdbackups.etcd.database.coreos.com in the namespace default" },
    figures: new Map(),
  }),
};
