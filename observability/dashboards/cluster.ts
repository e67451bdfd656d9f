// The dashboard of one cluster: what etcd people look at first, a line for each member.
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
          "Voters that read through the quorum.",
          "short",
          `max(${operator("members_healthy")})`,
        ),
        number(
          "May fail",
          "So many more members may fail before nothing can be written. Below zero: the quorum is lost.",
          "short",
          `max(${operator("members_healthy")}) - floor(max(${operator("voters")}) / 2) - 1`,
        ),
        number(
          "Leader",
          "The member that leads.",
          "short",
          `max by (pod) (${of("etcd_server_is_leader")}) == 1`,
          "{{pod}}",
        ),
        number(
          "Versions",
          "How many members run each. Two during a roll.",
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
          description: "As kubectl describe shows them, without their messages. 1: True.",
          show: "table",
          unit: "short",
          width: 12,
          queries: [{ expr: `max by (type, reason) (${operator("condition")})`, legend: "true" }],
        },
        {
          title: "Alarms",
          description: "How many members raise them. Zero is good.",
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
          "So many since each member started.",
          "short",
          perMember("etcd_server_leader_changes_seen_total"),
        ),
        lines(
          "Entries committed",
          "A second. All members have the same.",
          "ops",
          rateOf("etcd_server_proposals_committed_total"),
        ),
        lines(
          "Entries to apply",
          "Committed, and not yet in the database of the member. A member that stays high is too slow.",
          "short",
          `max by (pod) (${of("etcd_server_proposals_committed_total")} - ${of("etcd_server_proposals_applied_total")})`,
        ),
        lines(
          "Proposals that wait",
          "For a majority. High: a slow network or slow disks.",
          "short",
          perMember("etcd_server_proposals_pending"),
        ),
        lines(
          "Proposals that failed",
          "A second. Without a leader they fail.",
          "ops",
          rateOf("etcd_server_proposals_failed_total"),
        ),
        lines(
          "Heartbeats sent late",
          "A second. The leader could not send in time: slow disk, or too little CPU.",
          "ops",
          rateOf("etcd_server_heartbeat_send_failures_total"),
        ),
        lines(
          "Applied slowly",
          "A second: entries that took more than 100 ms.",
          "ops",
          rateOf("etcd_server_slow_apply_total"),
        ),
        lines(
          "Sent to peers",
          "High while a member joins or is behind.",
          "Bps",
          `sum by (pod) (rate(${of("etcd_network_peer_sent_bytes_total")}[5m]))`,
        ),
      ],
    },
    {
      title: "Disks and database",
      panels: [
        lines(
          "Raft log to disk, slowest hundredth",
          "Less than 10 ms is good. Above half a second leaders are lost.",
          "s",
          slowest("etcd_disk_wal_fsync_duration_seconds"),
        ),
        lines(
          "Commit of the database, slowest hundredth",
          "Less than 25 ms is good.",
          "s",
          slowest("etcd_disk_backend_commit_duration_seconds"),
        ),
        lines(
          "Database",
          "Between size and in use lies what a defragmentation gives back. At the quota nothing can be written.",
          "bytes",
          [perMember("etcd_mvcc_db_total_size_in_bytes"), "{{pod}} size"],
          [perMember("etcd_mvcc_db_total_size_in_use_in_bytes"), "{{pod}} in use"],
          [`min(${of("etcd_server_quota_backend_bytes")})`, "quota"],
        ),
        lines("Keys", "Without their history.", "short", perMember("etcd_debugging_mvcc_keys_total")),
        lines(
          "Revisions that are kept",
          "Since the last compaction. It grows for ever where nothing compacts.",
          "short",
          `max by (pod) (${of("etcd_debugging_mvcc_current_revision")} - ${of("etcd_debugging_mvcc_compact_revision")})`,
        ),
      ],
    },
    {
      title: "Clients",
      panels: [
        lines("Requests", "A second, by method.", "ops", [
          `sum by (grpc_method) (rate(${of("grpc_server_handled_total", 'grpc_type="unary"')}[5m]))`,
          "{{grpc_method}}",
        ]),
        lines("Requests that failed", "A second. Unary only: a watch that a client ends counts as failed.", "ops", [
          `sum by (grpc_code) (rate(${of("grpc_server_handled_total", 'grpc_type="unary"', 'grpc_code!="OK"')}[5m])) or vector(0)`,
          "{{grpc_code}}",
        ]),
        lines(
          "Watchers",
          "Slow ones do not keep up with the changes.",
          "short",
          [perMember("etcd_debugging_mvcc_watcher_total"), "{{pod}}"],
          [perMember("etcd_debugging_mvcc_slow_watcher_total"), "{{pod}} slow"],
        ),
        lines(
          "Traffic with clients",
          "Received and sent.",
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
        lines("CPU", "Cores in use.", "short", rateOf("process_cpu_seconds_total")),
        lines("Open files", "Connections of clients are among them.", "short", perMember("process_open_fds")),
        {
          title: "Certificates, days left",
          description: "Of the certificates in use.",
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
