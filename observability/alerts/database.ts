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
    say: "Find out who writes so much, and delete what is not needed. Then compact the history up to now, and defragment one member after another, the leader last. A member serves nobody while it is defragmented.",
    run: [etcdctl("endpoint status -w json"), etcdctl("compact REVISION"), etcdctl("defrag")],
  },
  {
    say: "Or raise `spec.etcd.quotaBackendBytes`, to at most 8 GiB. The members are changed one after another. Volumes need more than twice the quota: [Room](../volumes.md#room).",
  },
  {
    say: "So that it stays so: `spec.etcd.autoCompactionMode` and `autoCompactionRetention` drop the history by themselves.",
  },
];

const howFull = {
  say: "See how large the databases are, how much of that is in use, and the quota. The difference between size and use comes back with a defragmentation.",
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
    summary: `The database of etcd ${theCluster} is four fifths full.`,
    description: `The largest database file of ${theCluster} has {{ $value | humanizePercentage }} of its quota. At 100 % it takes no more writes.`,
    runbook: {
      meaning:
        "The largest database file of the members has more than 80 % of the quota. What is free inside of the file counts, too.",
      impact: "None yet. At the quota etcd raises an alarm and refuses all writes but deletions.",
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
    description: `The largest database file of ${theCluster} has {{ $value | humanizePercentage }} of its quota. At 100 % it takes no more writes. The operator changes no members until there is room.`,
    runbook: {
      meaning: "The largest database file of the members has more than 95 % of the quota.",
      impact: "Writes will be refused soon. Upgrades and edits wait until there is room.",
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
    description: `{{ $value }} members of ${theCluster} raise the alarm NOSPACE.`,
    runbook: {
      meaning:
        "A database has reached its quota, and etcd has raised the alarm NOSPACE. The operator disarms it when every database is below nine tenths of its quota.",
      impact: "Every write but a deletion is refused, on all members. Reads go on.",
      diagnosis: [{ say: "See the alarms.", run: [etcdctl("alarm list")] }, howFull],
      mitigation: [
        ...makeRoom,
        {
          say: "When there is room again, the operator disarms the alarm within half a minute, and writes go on. By hand, which etcd before 3.4 needs:",
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
    description: `{{ $value }} members of ${theCluster} raise the alarm CORRUPT: what they hold differs from what the others hold.`,
    runbook: {
      meaning: "etcd has compared the data of its members and found that they differ.",
      impact: "etcd refuses requests. What a client read may depend on which member it asked.",
      diagnosis: [
        {
          say: "See which member raised the alarm, and compare the hashes of all at one revision.",
          run: [etcdctl("alarm list"), etcdctl("endpoint hashkv --cluster -w table")],
        },
        whatItSays,
        whatMembersLog,
      ],
      mitigation: [
        { say: "Stop what writes to it. Save a snapshot of every member before anything else." },
        ...saveSnapshot,
        { say: "Restore the last verified backup: [Restore](../backups.md#restore)." },
        {
          say: "Look for disks that lie about fsync, and for known bugs of the etcd version that runs: [upgrades.md](../upgrades.md).",
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
      "{{ $value | humanizePercentage }} of the file is free space, which counts for the quota. A defragmentation gives it back.",
    runbook: {
      meaning:
        "More than half of a database file of more than 100 MiB is free. etcd reuses that space, and does not give it back by itself.",
      impact: "The free space counts for the quota, and makes snapshots, backups and new members slower.",
      diagnosis: [howFull],
      mitigation: [
        {
          say: "Defragment one member after another, the leader last. A member serves nobody meanwhile.",
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
      "One in a hundred writes to the raft log takes {{ $value | humanizeDuration }} to reach the disk. 10 ms would be good.",
    runbook: {
      meaning:
        "Before a member acknowledges an entry of the raft log, it waits until the disk has it. One in a hundred of these waits is longer than half a second.",
      impact:
        "Every write of a client waits for a majority of the disks. A slow leader misses heartbeats, and leaders change.",
      diagnosis: [
        {
          say: "See whether one member is slow, or all: the dashboard of the cluster shows each. One: its node. All: the kind of storage.",
        },
        whereMembersRun,
        {
          say: "See what else writes on the node.",
          run: ["kubectl get pods -A -o wide --field-selector spec.nodeName=NODE"],
        },
      ],
      mitigation: [
        {
          say: "Use local SSDs or a faster storage class. To move to another class, change `spec.pod.persistentVolumeClaimSpec`: members are exchanged one after another.",
        },
        { say: "Keep what writes much away from these nodes, with `spec.pod.affinity` or taints." },
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
    description: "One in a hundred commits of the database takes {{ $value | humanizeDuration }}. 25 ms would be good.",
    runbook: {
      meaning:
        "etcd writes changes to its database file in batches, and one in a hundred takes longer than a quarter of a second.",
      impact: "Reads and writes wait meanwhile. A member that stays behind is sent a whole snapshot.",
      diagnosis: [
        {
          say: "See whether the raft log is slow, too: then it is the disk, and [EtcdSlowFsync](EtcdSlowFsync.md) applies.",
        },
        {
          say: "If only commits are slow: large values, large transactions, or a large database that does not fit into memory.",
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
