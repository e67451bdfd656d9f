// The metrics of etcd that alerts and dashboards use, and since which minor version etcd has each. Servers of every version are
// asked in test/observability.

type Since = "3.2" | "3.3" | "3.4" | "3.5" | "3.6" | "3.7";

export const etcdMetrics: Readonly<Record<string, Since>> = {
  etcd_server_has_leader: "3.2",
  etcd_server_is_leader: "3.3",
  etcd_server_leader_changes_seen_total: "3.2",
  etcd_server_version: "3.3",
  etcd_server_proposals_committed_total: "3.2",
  etcd_server_proposals_applied_total: "3.2",
  etcd_server_proposals_pending: "3.2",
  etcd_server_proposals_failed_total: "3.2",
  etcd_server_heartbeat_send_failures_total: "3.3",
  etcd_server_quota_backend_bytes: "3.3",
  etcd_server_slow_apply_total: "3.3",
  etcd_mvcc_db_total_size_in_bytes: "3.3",
  etcd_mvcc_db_total_size_in_use_in_bytes: "3.3",
  etcd_disk_wal_fsync_duration_seconds: "3.2",
  etcd_disk_backend_commit_duration_seconds: "3.2",
  etcd_debugging_mvcc_keys_total: "3.2",
  etcd_debugging_mvcc_watcher_total: "3.2",
  etcd_debugging_mvcc_slow_watcher_total: "3.2",
  etcd_debugging_mvcc_current_revision: "3.3",
  etcd_debugging_mvcc_compact_revision: "3.3",
  etcd_network_client_grpc_received_bytes_total: "3.2",
  etcd_network_client_grpc_sent_bytes_total: "3.2",
  etcd_network_peer_sent_bytes_total: "3.2",
  grpc_server_handled_total: "3.2",
  process_resident_memory_bytes: "3.2",
  process_cpu_seconds_total: "3.2",
  process_open_fds: "3.2",
};
