// The dashboard of one cluster: what etcd people check first, a line for each member.
import type { Dashboard, Panel, Unit } from "./panel.ts";

const chosen = 'namespace="$namespace",etcd_cluster="$cluster"';
const of = (metric: string, ...matchers: string[]): string => `${metric}{${[chosen, ...matchers].join(",")}}`;
const operator = (what: string, ...matchers: string[]): string => of(`etcd_operator_cluster_${what}`, ...matchers);
const perMember = (metric: string): string => `max by (pod) (${of(metric)})`;
const rateOf = (metric: string): string => `max by (pod) (rate(${of(metric)}[5m]))`;
const slowest = (histogram: string): string =>
  `histogram_quantile(0.99, sum by (pod, le) (rate(${of(`${histogram}_bucket`)}[5m])))`;

const lines = (
  title: string,
  description: string,
  unit: Unit,
  ...exprs: (string | readonly [string, string])[]
): Panel => ({
  title,
  description,
  show: "lines",
  unit,
  queries: exprs.map((one) =>
    typeof one === "string" ? { expr: one, legend: "{{pod}}" } : { expr: one[0], legend: one[1] },
  ),
  width: 8,
});

const number = (title: string, description: string, unit: Unit, expr: string, legend = title): Panel => ({
  title,
  description,
  show: "number",
  unit,
  queries: [{ expr, legend }],
  width: 4,
});

export const cluster: Dashboard = {
  uid: "etcd-operator-cluster",
  title: "etcd: one cluster",
  description: "One EtcdCluster: its members, its raft, its disks, its database and its clients.",
  variables: [
    { name: "namespace", label: "Namespace", metric: "etcd_operator_cluster_members_wanted", of: "namespace" },
    {
      name: "cluster",
      label: "Cluster",
      metric: 'etcd_operator_cluster_members_wanted{namespace="$namespace"}',
      of: "etcd_cluster",
    },
  ],
  rows: [
    {
      title: "Now",
      panels: [
        number("Members wanted", "spec.size.", "short", `max(${operator("members_wanted")})`),
        number(
          "Members healthy",
          "Voters that can read through the quorum.",
          "short",
          `max(${operator("members_healthy")})`,
        ),
        number(
          "May fail",
          "Number of members that may still fail before etcd takes no more writes. Below zero, the quorum is lost.",
          "short",
          `max(${operator("members_healthy")}) - floor(max(${operator("voters")}) / 2) - 1`,
        ),
        number(
          "Leader",
          "Name of the member that is the leader.",
          "short",
          `max by (pod) (${of("etcd_server_is_leader")}) == 1`,
          "{{pod}}",
        ),
        number(
          "Versions",
          "Number of members by etcd version. There are two during a rolling upgrade.",
          "short",
          `count by (server_version) (${of("etcd_server_version")})`,
          "{{server_version}}",
        ),
        number(
          "Up to date",
          "Members with the version and settings of the spec.",
          "short",
          `max(${operator("members_updated")})`,
        ),
        {
          title: "Conditions",
          description: "Conditions as kubectl describe shows them, without their messages; 1 means True.",
          show: "table",
          unit: "short",
          width: 12,
          queries: [{ expr: `max by (type, reason) (${operator("condition")})`, legend: "true" }],
        },
        {
          title: "Alarms",
          description: "Number of members that raise each alarm. Should be zero.",
          show: "lines",
          unit: "short",
          width: 12,
          queries: [{ expr: `max by (type) (${operator("alarms")})`, legend: "{{type}}" }],
        },
      ],
    },
    {
      title: "Raft",
      panels: [
        lines("Has a leader", "1 for every member.", "short", perMember("etcd_server_has_leader")),
        lines(
          "Leader changes",
          "Number of leader changes since each member started.",
          "short",
          perMember("etcd_server_leader_changes_seen_total"),
        ),
        lines(
          "Entries committed",
          "Entries per second. All members should show the same.",
          "ops",
          rateOf("etcd_server_proposals_committed_total"),
        ),
        lines(
          "Entries to apply",
          "Entries that are committed, but not yet in the member's database. A member that stays high is too slow.",
          "short",
          `max by (pod) (${of("etcd_server_proposals_committed_total")} - ${of("etcd_server_proposals_applied_total")})`,
        ),
        lines(
          "Pending proposals",
          "Proposals that wait for a majority. A high number means a slow network or slow disks.",
          "short",
          perMember("etcd_server_proposals_pending"),
        ),
        lines(
          "Failed proposals",
          "Failures per second. Proposals fail while there is no leader.",
          "ops",
          rateOf("etcd_server_proposals_failed_total"),
        ),
        lines(
          "Heartbeats sent late",
          "Heartbeats per second that the leader could not send in time, because of a slow disk or too little CPU.",
          "ops",
          rateOf("etcd_server_heartbeat_send_failures_total"),
        ),
        lines(
          "Applied slowly",
          "Entries per second that took more than 100 ms to apply.",
          "ops",
          rateOf("etcd_server_slow_apply_total"),
        ),
        lines(
          "Sent to peers",
          "Bytes per second sent to peers. High while a member joins or is behind.",
          "Bps",
          `sum by (pod) (rate(${of("etcd_network_peer_sent_bytes_total")}[5m]))`,
        ),
      ],
    },
    {
      title: "Disks and database",
      panels: [
        lines(
          "Raft log fsync, 99th percentile",
          "Should be below 10 ms. Above 0.5 s, leaders are lost.",
          "s",
          slowest("etcd_disk_wal_fsync_duration_seconds"),
        ),
        lines(
          "Database commit, 99th percentile",
          "Should be below 25 ms.",
          "s",
          slowest("etcd_disk_backend_commit_duration_seconds"),
        ),
        lines(
          "Database",
          "A defragmentation frees the difference between size and in use. At the quota, etcd takes no more writes.",
          "bytes",
          [perMember("etcd_mvcc_db_total_size_in_bytes"), "{{pod}} size"],
          [perMember("etcd_mvcc_db_total_size_in_use_in_bytes"), "{{pod}} in use"],
          [`min(${of("etcd_server_quota_backend_bytes")})`, "quota"],
        ),
        lines("Keys", "Number of keys, without their history.", "short", perMember("etcd_debugging_mvcc_keys_total")),
        lines(
          "Revisions kept",
          "Revisions since the last compaction. The number grows without limit if nothing compacts.",
          "short",
          `max by (pod) (${of("etcd_debugging_mvcc_current_revision")} - ${of("etcd_debugging_mvcc_compact_revision")})`,
        ),
      ],
    },
    {
      title: "Clients",
      panels: [
        lines("Requests", "Requests per second, by method.", "ops", [
          `sum by (grpc_method) (rate(${of("grpc_server_handled_total", 'grpc_type="unary"')}[5m]))`,
          "{{grpc_method}}",
        ]),
        lines(
          "Failed requests",
          "Failed unary requests per second. Streams are left out: a watch that a client ends would count as failed.",
          "ops",
          [
            `sum by (grpc_code) (rate(${of("grpc_server_handled_total", 'grpc_type="unary"', 'grpc_code!="OK"')}[5m])) or vector(0)`,
            "{{grpc_code}}",
          ],
        ),
        lines(
          "Watchers",
          "Slow watchers do not keep up with the changes.",
          "short",
          [perMember("etcd_debugging_mvcc_watcher_total"), "{{pod}}"],
          [perMember("etcd_debugging_mvcc_slow_watcher_total"), "{{pod}} slow"],
        ),
        lines(
          "Traffic with clients",
          "Bytes per second received from and sent to clients.",
          "Bps",
          [rateOf("etcd_network_client_grpc_received_bytes_total"), "{{pod}} received"],
          [rateOf("etcd_network_client_grpc_sent_bytes_total"), "{{pod}} sent"],
        ),
      ],
    },
    {
      title: "Processes",
      panels: [
        lines("Memory", "In RAM.", "bytes", perMember("process_resident_memory_bytes")),
        lines("CPU", "CPU cores in use.", "short", rateOf("process_cpu_seconds_total")),
        lines(
          "Open files",
          "Number of open files, including client connections.",
          "short",
          perMember("process_open_fds"),
        ),
        {
          title: "Certificates, days left",
          description: "Days until the certificates in use expire.",
          show: "lines",
          unit: "d",
          width: 8,
          queries: [
            {
              expr: `(min by (use) (${operator("certificate_expiry_seconds")}) - time()) / 86400`,
              legend: "{{use}}",
              needs: "certificates",
            },
          ],
        },
      ],
    },
  ],
};
