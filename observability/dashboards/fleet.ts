// The dashboard of all clusters: which of them needs somebody, and how the operator itself does.
import {
  backupFailures,
  healthy,
  lastBackup,
  lastVerified,
  ofCluster,
  ofMembers,
  ourControllers,
  ourLeases,
  wanted,
} from "../expressions.ts";
import type { Dashboard, Panel } from "./panel.ts";

const condition = (type: string, is: 0 | 1): string =>
  `count(${ofCluster(`etcd_operator_cluster_condition{type="${type}"}`)} == ${is}) or vector(0)`;

const number = (title: string, description: string, expr: string, limits?: Panel["limits"]): Panel => ({
  title,
  description,
  show: "number",
  unit: "short",
  queries: [{ expr, legend: title }],
  width: 4,
  ...(limits && { limits }),
});

const any = { yellow: 1, red: 1 };
const each = "{{namespace}}/{{etcd_cluster}}";
const eachBackup = "{{namespace}}/{{name}}";
const perCluster = (metric: string): string => `sum by (namespace, etcd_cluster) (${metric})`;

export const fleet: Dashboard = {
  uid: "etcd-operator-fleet",
  title: "etcd: all clusters",
  description: "Every EtcdCluster and EtcdBackup at a glance, and the operator itself.",
  variables: [],
  rows: [
    {
      title: "Clusters",
      panels: [
        number("Clusters", "EtcdClusters that operators manage.", "sum(etcd_operator_controller_clusters)"),
        number(
          "Ready",
          "All members are healthy voters with the version and settings of the spec.",
          condition("Ready", 1),
        ),
        number(
          "Not ready",
          "Clusters with a change in progress, or a problem: the table says which.",
          condition("Ready", 0),
          any,
        ),
        number("Not available", "Clusters that take no writes.", condition("Available", 0), any),
        number(
          "Members missing",
          "Members that specs ask for but that are not healthy.",
          `sum(clamp_min(${wanted} - ${healthy}, 0))`,
          any,
        ),
        number(
          "Alerts",
          "Firing alerts of this operator.",
          'count(ALERTS{alertname=~"Etcd.*",alertstate="firing"}) or vector(0)',
          any,
        ),
        {
          title: "Each cluster",
          description: "Healthy should equal wanted, and ready should be 1. The reason says what is in progress.",
          show: "table",
          unit: "short",
          width: 24,
          queries: [
            { expr: wanted, legend: "wanted" },
            { expr: healthy, legend: "healthy" },
            { expr: ofCluster("etcd_operator_cluster_members_updated"), legend: "up to date" },
            { expr: ofCluster("etcd_operator_cluster_rolling"), legend: "rolling" },
            {
              expr: 'max by (namespace, etcd_cluster, reason) (etcd_operator_cluster_condition{type="Ready"})',
              legend: "ready",
            },
          ],
        },
        {
          title: "Missing members",
          description: "Should be zero. A short peak is a member that was replaced or changed.",
          show: "lines",
          unit: "short",
          width: 12,
          queries: [{ expr: `clamp_min(${wanted} - ${healthy}, 0)`, legend: each }],
        },
        {
          title: "Database, share of the quota",
          description: "At 100 %, etcd takes no more writes.",
          show: "lines",
          unit: "percentunit",
          width: 12,
          queries: [
            {
              expr: `${ofCluster("etcd_operator_cluster_db_size_bytes")} / ${ofCluster("etcd_operator_cluster_db_quota_bytes")}`,
              legend: each,
            },
          ],
        },
        {
          title: "Leader changes per hour",
          description: "A few during a rolling change are normal.",
          show: "lines",
          unit: "short",
          width: 12,
          queries: [
            {
              expr: ofCluster(`increase(${ofMembers("etcd_server_leader_changes_seen_total")}[1h])`),
              legend: each,
            },
          ],
        },
        {
          title: "Client commits",
          description: "Entries committed to the raft logs per second.",
          show: "lines",
          unit: "ops",
          width: 12,
          queries: [
            { expr: ofCluster(`rate(${ofMembers("etcd_server_proposals_committed_total")}[5m])`), legend: each },
          ],
        },
        {
          title: "Memory of the members",
          description: "Resident memory of all members of a cluster.",
          show: "lines",
          unit: "bytes",
          width: 12,
          queries: [{ expr: perCluster(ofMembers("process_resident_memory_bytes")), legend: each }],
        },
        {
          title: "Certificates, days left",
          description: "The operator renews its own certificates when a third of their lifetime is left.",
          show: "lines",
          unit: "d",
          width: 12,
          queries: [
            {
              expr: "(min by (namespace, etcd_cluster, use) (etcd_operator_cluster_certificate_expiry_seconds) - time()) / 86400",
              legend: `${each} {{use}}`,
              needs: "certificates",
            },
          ],
        },
      ],
    },
    {
      title: "Backups",
      panels: [
        {
          title: "Each backup",
          description: "Ages of the newest backup, and of the newest one that was verified by a restore.",
          show: "table",
          unit: "s",
          width: 12,
          queries: [
            { expr: `time() - ${lastBackup}`, legend: "age", needs: "backups" },
            { expr: `time() - ${lastVerified}`, legend: "age of the last proved", needs: "backups" },
          ],
        },
        {
          title: "Consecutive failed runs",
          description: "Should be zero.",
          show: "lines",
          unit: "short",
          width: 6,
          queries: [{ expr: backupFailures, legend: eachBackup, needs: "backups" }],
        },
        {
          title: "Size of the backups",
          description: "Size of the newest backup of each EtcdBackup.",
          show: "lines",
          unit: "bytes",
          width: 6,
          queries: [
            {
              expr: "max by (namespace, name) (etcd_operator_backup_last_size_bytes)",
              legend: eachBackup,
              needs: "backups",
            },
          ],
        },
      ],
    },
    {
      title: "Operator",
      panels: [
        {
          title: "Who leads",
          description: "Exactly one replica should show 1 for each lease.",
          show: "lines",
          unit: "short",
          width: 8,
          queries: [{ expr: `leader_election_master_status{${ourLeases}}`, legend: "{{pod}} {{name}}" }],
        },
        {
          title: "Reconciles",
          description: "Reconciles by result. The operator retries errors.",
          show: "lines",
          unit: "ops",
          width: 8,
          queries: [
            {
              expr: `sum by (controller, result) (rate(controller_runtime_reconcile_total{${ourControllers}}[5m]))`,
              legend: "{{controller}} {{result}}",
            },
          ],
        },
        {
          title: "Reconcile duration, 99th percentile",
          description: "Most reconciles take less than 0.1 s.",
          show: "lines",
          unit: "s",
          width: 8,
          queries: [
            {
              expr: `histogram_quantile(0.99, sum by (controller, le) (rate(controller_runtime_reconcile_time_seconds_bucket{${ourControllers}}[5m])))`,
              legend: "{{controller}}",
            },
          ],
        },
        {
          title: "Queue depth",
          description: "A queue that stays long means that the operator cannot keep up.",
          show: "lines",
          unit: "short",
          width: 8,
          queries: [
            { expr: 'max by (name) (workqueue_depth{name=~"etcd(cluster|backup|restore)"})', legend: "{{name}}" },
          ],
        },
        {
          title: "Requests to the API server",
          description: "Requests by verb and code. A settled fleet causes almost none.",
          show: "lines",
          unit: "ops",
          width: 8,
          queries: [
            {
              expr: "sum by (verb, code) (rate(kubernetes_api_requests_total[5m]))",
              legend: "{{verb}} {{code}}",
            },
          ],
        },
        {
          title: "Memory of the operator",
          description: "Resident memory of each replica.",
          show: "lines",
          unit: "bytes",
          width: 8,
          queries: [
            {
              expr: "process_resident_memory_bytes and on (namespace, pod) etcd_operator_controller_clusters",
              legend: "{{namespace}}/{{pod}}",
            },
          ],
        },
      ],
    },
  ],
};
