// Each alert under the series that it is for: it fires, and it clears. And what looks like a fault, and is none.
import { backupCases } from "./backup-cases.ts";
import type { Case } from "./case.ts";
import { growing, ofDemo, ofDemoMember, ofOperator, type Series } from "./series.ts";

const demo = { namespace: "shop", etcd_cluster: "demo" };
const day = 86_400;
const failuresOfDemo = ofOperator("controller_failures_in_a_row", {
  namespace: "shop",
  name: "demo",
  controller: "etcdcluster",
});

const members = (healthy: Series[string], voters = 3): Series => ({
  [ofDemo("members_wanted")]: [[voters, 120]],
  [ofDemo("voters")]: [[voters, 120]],
  [ofDemo("members_healthy")]: healthy,
});

const rollThatGoesOn: Series = {
  [ofDemo("rolling")]: [
    [0, 5],
    [1, 55],
    [0, 60],
  ],
  [ofDemo("members_updated")]: [
    [3, 5],
    [0, 10],
    [1, 10],
    [2, 10],
    [3, 85],
  ],
};

const rollThatStops: Series = {
  [ofDemo("rolling")]: [
    [0, 5],
    [1, 75],
    [0, 40],
  ],
  [ofDemo("members_updated")]: [
    [3, 5],
    [0, 10],
    [1, 65],
    [3, 40],
  ],
};

/** Of 10 observations a minute, all above the bucket of 0.512 s until a minute, and all below it from then on. */
const slowUntil = (metric: string, minute: number): Series => {
  const bucket = (le: string): string => ofDemoMember(`${metric}_bucket`, "demo-a", { le });
  const after = 120 - minute;
  return {
    [bucket("0.001")]: [[0, minute], ...growing(0, 10, after)],
    [bucket("0.512")]: [[0, minute], ...growing(0, 10, after)],
    [bucket("1.024")]: growing(0, 10, 120),
    [bucket("+Inf")]: growing(0, 10, 120),
  };
};

const expires = (use: string, source: "given" | "made"): string =>
  ofDemo("certificate_expiry_seconds", { use, source });

/** The lifetime of a certificate. */
const lives = (use: string, source: "given" | "made", seconds: number): Series => ({
  [ofDemo("certificate_lifetime_seconds", { use, source })]: [[seconds, 120]],
});

const full = (share: number): Series => ({
  [ofDemo("db_quota_bytes")]: [[1000, 120]],
  [ofDemo("db_size_bytes")]: [
    [100, 5],
    [1000 * share, 40],
    [100, 75],
  ],
});

const alarm = (type: string): Series => ({
  [ofDemo("alarms", { type })]: [
    [0, 5],
    [3, 20],
    [0, 60],
  ],
});

export const cases: readonly Case[] = [
  {
    alert: "EtcdQuorumLost",
    what: "fires when too few voters answer, and clears when they do",
    series: {
      ...members([
        [3, 5],
        [1, 20],
        [3, 60],
      ]),
      [ofDemo("condition", { type: "Available", reason: "QuorumLost" })]: [
        ["nothing", 5],
        [0, 20],
      ],
      [ofDemo("condition", { type: "Available", reason: "Cluster available" })]: [
        [1, 5],
        ["nothing", 20],
        [1, 60],
      ],
    },
    fires: [8, 20],
    silent: [4, 35],
    labels: demo,
  },
  {
    alert: "EtcdQuorumLost",
    what: "is silent while a restore replaces the data",
    series: {
      ...members([[0, 30]]),
      [ofDemo("condition", { type: "Available", reason: "Restoring" })]: [[0, 30]],
    },
    fires: [],
    silent: [5, 25],
  },
  {
    alert: "EtcdQuorumAtRisk",
    what: "fires when one of three members stays away, and clears when it is back",
    series: members([
      [3, 5],
      [2, 40],
      [3, 60],
    ]),
    fires: [25, 40],
    silent: [15, 50],
    labels: demo,
  },
  {
    alert: "EtcdQuorumAtRisk",
    what: "is silent when one of five is away: another may fail",
    series: members([[4, 120]], 5),
    fires: [],
    silent: [30, 110],
  },
  {
    alert: "EtcdQuorumAtRisk",
    what: "is silent for a cluster of one, which has nothing to lose but itself",
    series: members([[1, 120]], 1),
    fires: [],
    silent: [30, 110],
  },
  {
    alert: "EtcdQuorumAtRisk",
    what: "is silent while a roll goes on",
    series: {
      ...members([
        [2, 40],
        [3, 80],
      ]),
      ...rollThatGoesOn,
    },
    fires: [],
    silent: [25, 39],
  },
  {
    alert: "EtcdQuorumAtRisk",
    what: "fires when a member is lost in a roll that does not go on",
    series: {
      ...members([
        [2, 80],
        [3, 40],
      ]),
      ...rollThatStops,
    },
    fires: [50, 75],
    silent: [25, 85],
    labels: demo,
  },
  {
    alert: "EtcdNoLeader",
    what: "fires for the member that follows nobody, and clears when it does",
    series: {
      [ofDemoMember("etcd_server_has_leader", "demo-a")]: [[1, 60]],
      [ofDemoMember("etcd_server_has_leader", "demo-b")]: [
        [1, 5],
        [0, 20],
        [1, 35],
      ],
    },
    fires: [8, 20],
    silent: [4, 30],
    labels: { ...demo, pod: "demo-b" },
  },
  {
    alert: "EtcdNoLeader",
    what: "is silent about an etcd that is no operator's",
    series: { 'etcd_server_has_leader{instance="control-plane"}': [[0, 30]] },
    fires: [],
    silent: [10, 25],
  },
  {
    alert: "EtcdLeaderChanges",
    what: "fires when leaders change again and again, and clears when they stay",
    series: {
      [ofDemoMember("etcd_server_leader_changes_seen_total", "demo-a")]: [[1, 10], ...growing(2, 1, 20), [21, 60]],
      [ofDemo("rolling")]: [[0, 90]],
    },
    fires: [25, 30],
    silent: [9, 55],
    labels: demo,
  },
  {
    alert: "EtcdLeaderChanges",
    what: "is silent during a roll and just after it, which moves the leader on purpose",
    series: {
      [ofDemoMember("etcd_server_leader_changes_seen_total", "demo-a")]: [[1, 10], ...growing(2, 1, 10), [11, 70]],
      [ofDemo("rolling")]: [
        [0, 9],
        [1, 12],
        [0, 69],
      ],
    },
    fires: [],
    silent: [15, 20, 25, 30, 35],
  },
  {
    alert: "EtcdMemberDown",
    what: "fires when a member is missing, though nothing that is scraped is down, and clears when it is replaced",
    series: members([
      [3, 5],
      [2, 20],
      [3, 60],
    ]),
    fires: [12, 24],
    silent: [4, 8, 30],
    labels: demo,
  },
  {
    alert: "EtcdMemberDown",
    what: "goes on firing when another replica of the operator takes over",
    series: {
      [ofDemo("members_wanted")]: [[3, 15]],
      [ofDemo("members_healthy")]: [[2, 15]],
      [ofDemo("members_wanted", { pod: "operator-2" })]: [
        ["nothing", 15],
        [3, 20],
      ],
      [ofDemo("members_healthy", { pod: "operator-2" })]: [
        ["nothing", 15],
        [2, 20],
      ],
    },
    fires: [14, 16, 30],
    silent: [3],
    labels: demo,
  },
  {
    alert: "EtcdMemberDown",
    what: "is silent while a roll goes on",
    series: {
      ...members([
        [2, 40],
        [3, 80],
      ]),
      ...rollThatGoesOn,
    },
    fires: [],
    silent: [20, 30, 39],
  },
  {
    alert: "EtcdRollStuck",
    what: "fires when no member was changed for long, and clears when the roll is done",
    series: rollThatStops,
    fires: [65, 79],
    silent: [10, 40, 81],
    labels: demo,
  },
  {
    alert: "EtcdRollStuck",
    what: "is silent while members are changed one after another",
    series: rollThatGoesOn,
    fires: [],
    silent: [10, 40, 59],
  },
  {
    alert: "EtcdClusterStalled",
    what: "fires when the spec is refused, and clears when it is corrected",
    series: {
      [ofDemo("condition", { type: "Ready", reason: "InvalidSpec" })]: [[0, 20]],
      [ofDemo("condition", { type: "Ready", reason: "AllMembersReady" })]: [
        ["nothing", 20],
        [1, 30],
      ],
    },
    fires: [10, 19],
    silent: [3, 30],
    labels: { ...demo, reason: "InvalidSpec" },
  },
  {
    alert: "EtcdClusterStalled",
    what: "is silent about what gets better by itself",
    series: { [ofDemo("condition", { type: "Ready", reason: "Scaling" })]: [[0, 30]] },
    fires: [],
    silent: [10, 29],
  },
  {
    alert: "EtcdDatabaseNearQuota",
    what: "fires above four fifths, and clears below",
    series: full(0.85),
    fires: [20, 40],
    silent: [4, 50],
    labels: demo,
  },
  {
    alert: "EtcdDatabaseAlmostFull",
    what: "fires above 95 %, and clears below",
    series: full(0.97),
    fires: [15, 40],
    silent: [4, 50],
    labels: demo,
  },
  {
    alert: "EtcdDatabaseAlmostFull",
    what: "is silent at 85 %",
    series: full(0.85),
    fires: [],
    silent: [20, 40],
  },
  {
    alert: "EtcdDatabaseFull",
    what: "fires while the alarm is raised, and clears when it is disarmed",
    series: alarm("noSpace"),
    fires: [8, 24],
    silent: [4, 26],
    labels: demo,
  },
  {
    alert: "EtcdDatabaseCorrupt",
    what: "fires at once, and clears when the alarm is gone",
    series: alarm("corrupt"),
    fires: [5, 24],
    silent: [4, 26],
    labels: demo,
  },
  {
    alert: "EtcdDatabaseFragmented",
    what: "fires when most of a large file is free, and clears when it is defragmented",
    series: {
      [ofDemoMember("etcd_mvcc_db_total_size_in_bytes", "demo-a")]: [
        [400e6, 90],
        [100e6, 60],
      ],
      [ofDemoMember("etcd_mvcc_db_total_size_in_use_in_bytes", "demo-a")]: [[90e6, 150]],
    },
    fires: [70, 89],
    silent: [30, 95],
    labels: { ...demo, pod: "demo-a" },
  },
  {
    alert: "EtcdDatabaseFragmented",
    what: "is silent about a small file",
    series: {
      [ofDemoMember("etcd_mvcc_db_total_size_in_bytes", "demo-a")]: [[20e6, 120]],
      [ofDemoMember("etcd_mvcc_db_total_size_in_use_in_bytes", "demo-a")]: [[1e6, 120]],
    },
    fires: [],
    silent: [100],
  },
  {
    alert: "EtcdSlowFsync",
    what: "fires for the member whose disk is slow, and clears when it is not",
    series: slowUntil("etcd_disk_wal_fsync_duration_seconds", 40),
    fires: [20, 40],
    silent: [5, 60],
    labels: { ...demo, pod: "demo-a" },
  },
  {
    alert: "EtcdSlowCommit",
    what: "fires for the member whose commits are slow, and clears when they are not",
    series: slowUntil("etcd_disk_backend_commit_duration_seconds", 40),
    fires: [20, 40],
    silent: [5, 60],
    labels: { ...demo, pod: "demo-a" },
  },
  {
    alert: "EtcdCertificateExpiresInAMonth",
    what: "fires for a certificate that a person gives, and clears when it is renewed",
    series: {
      ...lives("peer", "given", 365 * day),
      [expires("peer", "given")]: [
        [30 * day + 600, 60],
        [90 * day, 60],
      ],
    },
    fires: [30, 59],
    silent: [5, 20, 65],
    labels: { ...demo, use: "peer" },
  },
  {
    alert: "EtcdCertificateExpiresInAMonth",
    what: "is silent about one that the operator renews in time",
    series: { ...lives("peer", "made", 365 * day), [expires("peer", "made")]: [[29 * day, 60]] },
    fires: [],
    silent: [30, 59],
  },
  {
    alert: "EtcdCertificateExpiresInAWeek",
    what: "fires for one that the operator should have renewed, and clears when it has",
    series: {
      ...lives("server", "made", 90 * day),
      [expires("server", "made")]: [
        [7 * day + 600, 60],
        [90 * day, 60],
      ],
    },
    fires: [30, 59],
    silent: [5, 20, 65],
    labels: { ...demo, use: "server" },
  },
  {
    alert: "EtcdCertificateExpiresInADay",
    what: "fires on the last day and when it has expired, and clears when it is renewed",
    series: {
      ...lives("operator", "given", 90 * day),
      [expires("operator", "given")]: [
        [3000, 60],
        [90 * day, 60],
      ],
    },
    fires: [30, 59],
    silent: [10, 65],
    labels: { ...demo, use: "operator" },
  },
  ...(["Month", "Week", "Day"] as const).map((level) => ({
    alert: `EtcdCertificateExpiresInA${level}` as const,
    what: "is silent about one of 24 hours that is renewed with eight of them left",
    series: {
      ...lives("peer", "given", day),
      [expires("peer", "given")]: [[9 * 3600, 120] as [number, number]],
    },
    fires: [],
    silent: [30, 60, 110],
  })),
  {
    alert: "EtcdCertificateExpiresInADay",
    what: "fires for one of 24 hours that nobody renewed, with 72 minutes left",
    series: {
      ...lives("peer", "given", day),
      [expires("peer", "given")]: [[5400, 120]],
    },
    fires: [60, 110],
    silent: [5, 30],
    labels: { ...demo, use: "peer" },
  },
  {
    alert: "EtcdCertificateProblem",
    what: "fires when a Secret cannot be used, and clears when it can",
    series: {
      [ofDemo("certificate_problems")]: [
        [0, 5],
        [1, 20],
        [0, 20],
      ],
    },
    fires: [17, 24],
    silent: [4, 12, 26],
    labels: demo,
  },
  {
    alert: "EtcdOperatorDown",
    what: "fires when no operator is heard of, and clears when one is",
    series: {
      [ofOperator("etcd_operator_controller_clusters")]: [
        [2, 5],
        ["nothing", 25],
        [2, 20],
      ],
    },
    // Prometheus forgets what was scraped only after five minutes, unless the target itself is gone.
    fires: [20, 29],
    silent: [4, 31],
    labels: {},
  },
  {
    alert: "EtcdClusterUnattended",
    what: "fires when members run that no operator reports on, and clears when one does",
    series: {
      [ofDemoMember("etcd_server_has_leader", "demo-a")]: [[1, 60]],
      [ofDemoMember("etcd_server_has_leader", "demo-b")]: [[1, 60]],
      [ofDemo("members_wanted")]: [
        [3, 5],
        ["nothing", 25],
        [3, 30],
      ],
    },
    fires: [25, 29],
    silent: [4, 15, 31],
    labels: demo,
  },
  {
    alert: "EtcdOperatorNotLeading",
    what: "fires when no replica leads, and clears when one does",
    series: {
      [ofOperator("leader_election_master_status", { name: "etcd-operator" })]: [
        [1, 5],
        [0, 30],
      ],
      [ofOperator("leader_election_master_status", { name: "etcd-operator", pod: "operator-2" })]: [
        [0, 20],
        [1, 15],
      ],
    },
    fires: [8, 19],
    silent: [4, 21],
    labels: { namespace: "operators", name: "etcd-operator" },
  },
  {
    alert: "EtcdOperatorNotLeading",
    what: "is silent about the leases of others",
    series: { [ofOperator("leader_election_master_status", { name: "cert-manager-controller" })]: [[0, 30]] },
    fires: [],
    silent: [10, 29],
  },
  {
    alert: "EtcdOperatorErrors",
    what: "fires when reconciles of one object fail and fail, and clears when one succeeds",
    series: { [failuresOfDemo]: growing(3, 1, 60) },
    fires: [20, 59],
    silent: [10, 70],
    labels: { namespace: "shop", name: "demo", controller: "etcdcluster" },
  },
  {
    alert: "EtcdOperatorErrors",
    what: "is silent about a few conflicts",
    series: { [failuresOfDemo]: [[2, 60]] },
    fires: [],
    silent: [30, 59],
  },
  ...backupCases,
];
