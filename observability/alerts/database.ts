// Alerts about the database of the members: its size, its state, and the disks that it is on.
import {
  type Alert,
  etcdctl,
  saveSnapshot,
  theCluster,
  whatItSays,
  whatMembersLog,
  whereMembersRun,
} from "../alert.ts";
import { ofCluster, ofMember, ofMembers, slowest } from "../expressions.ts";

const filled = `${ofCluster("etcd_operator_cluster_db_size_bytes")} / ${ofCluster("etcd_operator_cluster_db_quota_bytes")}`;
const total = ofMember(ofMembers("etcd_mvcc_db_total_size_in_bytes"));
const inUse = ofMember(ofMembers("etcd_mvcc_db_total_size_in_use_in_bytes"));
const raised = (type: string): string => `${ofCluster(`etcd_operator_cluster_alarms{type="${type}"}`)} > 0`;

const makeRoom = [
  {
    say: "Find out which client writes so much, and delete keys that are not needed. Then compact the history, and defragment one member after another, the leader last. A member does not serve clients while it is defragmented.",
    run: [etcdctl("endpoint status -w json"), etcdctl("compact REVISION"), etcdctl("defrag")],
  },
  {
    say: "Alternatively, raise `spec.etcd.quotaBackendBytes`, to at most 8 GiB. The members are changed one at a time. Volumes need more than twice the quota: see [Room](../volumes.md#room).",
  },
  {
    say: "To prevent this in the future, have etcd drop history by itself: set `spec.etcd.autoCompactionMode` and `autoCompactionRetention`.",
  },
];

const howFull = {
  say: "See how large the databases are, how much of that is in use, and the quota. A defragmentation frees the difference between size and use.",
  run: [
    "kubectl get etcd CLUSTER -n NAMESPACE -o jsonpath='{.status.dbSize} {.status.dbSizeInUse} {.status.dbQuota}'",
    etcdctl("endpoint status --cluster -w table"),
  ],
};

export const databaseAlerts: readonly Alert[] = [
  {
    name: "EtcdDatabaseNearQuota",
    expr: `${filled} > 0.8`,
    for: "10m",
    severity: "warning",
    summary: `The database of etcd ${theCluster} is more than 80 % full.`,
    description: `The largest database file of ${theCluster} has reached {{ $value | humanizePercentage }} of its quota. At 100 %, etcd takes no more writes.`,
    runbook: {
      meaning:
        "The largest database file of any member has reached more than 80 % of the quota. Free space inside the file counts as well.",
      impact: "None yet. At the quota, etcd raises an alarm and refuses all writes except deletions.",
      diagnosis: [howFull],
      mitigation: makeRoom,
    },
  },
  {
    name: "EtcdDatabaseAlmostFull",
    expr: `${filled} > 0.95`,
    for: "5m",
    severity: "critical",
    summary: `The database of etcd ${theCluster} is almost full.`,
    description: `The largest database file of ${theCluster} has reached {{ $value | humanizePercentage }} of its quota. At 100 %, etcd takes no more writes. The operator does not change members until there is room.`,
    runbook: {
      meaning: "The largest database file of any member has reached more than 95 % of the quota.",
      impact: "etcd will refuse writes soon. Upgrades and other changes wait until there is room.",
      diagnosis: [howFull],
      mitigation: makeRoom,
    },
  },
  {
    name: "EtcdDatabaseFull",
    expr: raised("noSpace"),
    for: "1m",
    severity: "critical",
    summary: `etcd ${theCluster} takes no more writes: its database is full.`,
    description: `{{ $value }} members of ${theCluster} have raised the alarm NOSPACE.`,
    runbook: {
      meaning:
        "A database has reached its quota, and etcd has raised the alarm NOSPACE. The operator disarms it when every database is below 90 % of its quota.",
      impact: "All members refuse every write except deletions. Reads continue.",
      diagnosis: [{ say: "See the alarms.", run: [etcdctl("alarm list")] }, howFull],
      mitigation: [
        ...makeRoom,
        {
          say: "When there is room again, the operator disarms the alarm within 30 seconds, and writes continue. To disarm it by hand, which etcd before 3.4 needs:",
          run: [etcdctl("alarm disarm")],
        },
      ],
    },
  },
  {
    name: "EtcdDatabaseCorrupt",
    expr: raised("corrupt"),
    for: "0m",
    severity: "critical",
    summary: `Members of etcd ${theCluster} hold different data.`,
    description: `{{ $value }} members of ${theCluster} have raised the alarm CORRUPT: their data differs from that of the others.`,
    runbook: {
      meaning: "etcd has compared the data of its members and found a difference.",
      impact: "etcd refuses requests. Earlier reads may have returned different data from different members.",
      diagnosis: [
        {
          say: "See which member raised the alarm, and compare the hashes of all members at one revision.",
          run: [etcdctl("alarm list"), etcdctl("endpoint hashkv --cluster -w table")],
        },
        whatItSays,
        whatMembersLog,
      ],
      mitigation: [
        { say: "Stop the clients that write to the cluster. Save a snapshot of every member before anything else." },
        ...saveSnapshot,
        { say: "Restore the last verified backup: see [Restore](../backups.md#restore)." },
        {
          say: "Look for disks that acknowledge fsync too early, and for known bugs of the etcd version in use: see [upgrades.md](../upgrades.md).",
        },
      ],
    },
  },
  {
    name: "EtcdDatabaseFragmented",
    expr: `1 - ${inUse} / ${total} > 0.5 and ${total} > 100 * 1024 * 1024`,
    for: "1h",
    severity: "info",
    summary: `More than half of the database file of {{ $labels.pod }} in ${theCluster} is free space.`,
    description:
      "{{ $value | humanizePercentage }} of the file is free space, which counts toward the quota. A defragmentation frees it.",
    runbook: {
      meaning:
        "More than half of a database file of more than 100 MiB is free space. etcd reuses that space, but does not return it to the disk by itself.",
      impact: "The free space counts toward the quota, and makes snapshots, backups and new members slower.",
      diagnosis: [howFull],
      mitigation: [
        {
          say: "Defragment one member after another, the leader last. A member does not serve clients meanwhile.",
          run: [etcdctl("defrag")],
        },
        { say: "If new keys fill it again soon, leave it." },
      ],
    },
  },
  {
    name: "EtcdSlowFsync",
    expr: `${slowest("etcd_disk_wal_fsync_duration_seconds")} > 0.5`,
    for: "10m",
    severity: "warning",
    summary: `The disk of {{ $labels.pod }} in ${theCluster} is too slow for etcd.`,
    description:
      "One in a hundred writes to the raft log takes {{ $value | humanizeDuration }} to reach the disk. A good value is 10 ms.",
    runbook: {
      meaning:
        "Before a member acknowledges an entry of the raft log, it waits until the entry is on disk. One in a hundred of these waits takes longer than 0.5 s.",
      impact:
        "Every client write waits for a majority of the disks. A slow leader misses heartbeats, and the leader changes.",
      diagnosis: [
        {
          say: "Check on the dashboard of the cluster whether one member is slow, or all. If it is one, check its node; if it is all, check the storage class.",
        },
        whereMembersRun,
        {
          say: "See what else runs on the node.",
          run: ["kubectl get pods -A -o wide --field-selector spec.nodeName=NODE"],
        },
      ],
      mitigation: [
        {
          say: "Use local SSDs or a faster storage class. To move to another class, change `spec.pod.persistentVolumeClaimSpec`: members are replaced one at a time.",
        },
        { say: "Keep workloads that write a lot off these nodes, with `spec.pod.affinity` or taints." },
        {
          say: "Move the leader off a slow node.",
          run: ["kubectl etcd move-leader CLUSTER -n NAMESPACE"],
        },
      ],
    },
  },
  {
    name: "EtcdSlowCommit",
    expr: `${slowest("etcd_disk_backend_commit_duration_seconds")} > 0.25`,
    for: "10m",
    severity: "warning",
    summary: `Commits of the database of {{ $labels.pod }} in ${theCluster} are slow.`,
    description:
      "One in a hundred commits of the database takes {{ $value | humanizeDuration }}. A good value is 25 ms.",
    runbook: {
      meaning: "etcd writes changes to its database file in batches, and one in a hundred takes longer than 0.25 s.",
      impact: "Reads and writes wait meanwhile. A member that falls behind is sent a full snapshot.",
      diagnosis: [
        {
          say: "Check whether the raft log is slow as well. If so, the disk is slow: see [EtcdSlowFsync](EtcdSlowFsync.md).",
        },
        {
          say: "If only commits are slow, the cause is large values, large transactions, or a database that does not fit into memory.",
        },
        whereMembersRun,
      ],
      mitigation: [
        { say: "Write smaller values and transactions; delete what is not needed; compact and defragment." },
        {
          say: "Raise the memory of the members (`spec.pod.resources`), so that the database stays in the page cache.",
        },
      ],
    },
  },
];
