// Alerts about the operator itself: whether it runs, leads, and does its work.
import { type Alert, type Step, theCluster, whatTheOperatorLogs } from "../alert.ts";
import { ofMembers, ourControllers, ourLeases, sameCluster, wanted } from "../expressions.ts";

const whereItRuns: Step = {
  say: "Check whether the operator runs, and what it logged last.",
  run: [
    "kubectl get pods -n OPERATOR_NAMESPACE -l name=etcd-operator -o wide",
    "kubectl describe pods -n OPERATOR_NAMESPACE -l name=etcd-operator",
    "kubectl logs -n OPERATOR_NAMESPACE deployment/etcd-operator --tail=50",
  ],
};

const clustersGoOn =
  "Clusters continue to serve: etcd does not need the operator. But lost members are not replaced, no backups are taken, and certificates are not renewed.";

export const operatorAlerts: readonly Alert[] = [
  {
    name: "EtcdOperatorDown",
    expr: "absent(etcd_operator_controller_clusters)",
    for: "5m",
    severity: "critical",
    summary: "No etcd operator is running.",
    description: "Prometheus has found no metrics of an etcd operator for 5 minutes: none runs, or none is scraped.",
    runbook: {
      meaning: "Prometheus scrapes no process of the operator.",
      impact: clustersGoOn,
      diagnosis: [
        whereItRuns,
        {
          say: "If it runs, check under Status, Targets whether Prometheus scrapes it. [What is scraped](../observability.md#what-is-scraped) says what is needed.",
        },
      ],
      mitigation: [
        {
          say: "Fix what prevents its pod from running: image, quota, node.",
          run: ["kubectl rollout restart -n OPERATOR_NAMESPACE deployment/etcd-operator"],
        },
        { say: "Run two replicas, so that the second takes over within seconds." },
      ],
    },
  },
  {
    name: "EtcdClusterUnattended",
    expr: `count by (namespace, etcd_cluster) (${ofMembers("etcd_server_has_leader")}) unless ${sameCluster} ${wanted}`,
    for: "10m",
    severity: "critical",
    summary: `No operator manages etcd ${theCluster}.`,
    description: `{{ $value }} members of ${theCluster} run, but no operator reports on the cluster.`,
    runbook: {
      meaning:
        "Members of the cluster are scraped, but no operator reports on it: the operator of this namespace is down or not scraped, it does not watch this namespace, or every reconcile fails.",
      impact: clustersGoOn,
      diagnosis: [
        {
          say: "Check whether the EtcdCluster exists, and whether an operator watches the namespace. An operator that runs with -cluster-wide leaves alone a cluster that an operator of its namespace manages or managed, until the cluster has the annotation `etcd.database.coreos.com/scope: clusterwide`. The event `Not Taken` on the EtcdCluster says so.",
          run: ["kubectl get etcd CLUSTER -n NAMESPACE -o yaml"],
        },
        whereItRuns,
      ],
      mitigation: [
        { say: "Start the operator of the namespace, or add the annotation: see [install.md](../install.md)." },
        {
          say: "If there is no EtcdCluster, its pods were left behind by a deletion with `--cascade=orphan`. Create the EtcdCluster again, or delete the pods.",
        },
      ],
    },
  },
  {
    name: "EtcdOperatorNotLeading",
    expr: `max by (namespace, name) (leader_election_master_status{${ourLeases}}) == 0`,
    for: "2m",
    severity: "critical",
    summary: "No replica of the operator in {{ $labels.namespace }} is the leader ({{ $labels.name }}).",
    description:
      "Replicas run, but none has held the Lease {{ $labels.name }} for 2 minutes, so the operator does nothing.",
    runbook: {
      meaning: "Replicas of the operator run, but none holds the Lease. Only the holder acts.",
      impact: clustersGoOn,
      diagnosis: [
        {
          say: "See who holds the Lease, and when it was renewed.",
          run: ["kubectl get lease -n OPERATOR_NAMESPACE -o yaml"],
        },
        whatTheOperatorLogs,
      ],
      mitigation: [
        {
          say: "If the log says that the operator may not read or write the Lease, grant the RBAC permissions in example/rbac. [What it may do](../install.md#what-it-may-do) lists them.",
        },
        {
          say: "If the API server is slow or unreachable, fix that. The Lease of a process that is gone expires after 15 seconds; do not delete it.",
        },
      ],
    },
  },
  {
    name: "EtcdOperatorErrors",
    expr: `max by (namespace, name, controller) (controller_failures_in_a_row{${ourControllers}}) > 2`,
    for: "15m",
    severity: "warning",
    summary: "The operator fails to reconcile {{ $labels.controller }} {{ $labels.namespace }}/{{ $labels.name }}.",
    description: "The last {{ $value }} reconciles of the object have failed, and none has succeeded for 15 minutes.",
    runbook: {
      meaning:
        "Every reconcile of this object ends with an error. The operator retries with increasing back-off, at most a minute apart.",
      impact:
        "The operator does not manage this object; others are not affected. Refusals that somebody can resolve do not count: for those, see [EtcdClusterStalled](EtcdClusterStalled.md).",
      diagnosis: [
        {
          say: "See which errors occur.",
          run: ['kubectl logs -n OPERATOR_NAMESPACE deployment/etcd-operator --since=15m | grep \'"level":"error"\''],
        },
        {
          say: "See what the API server answers: `kubernetes_api_requests_total` by `code`. 403 means that a permission is missing; 429 and 5xx mean that it is overloaded.",
        },
      ],
      mitigation: [
        {
          say: "If a permission is missing, apply example/rbac of this release. If the API server is overloaded, the errors end when it recovers.",
        },
        { say: "Anything else is probably a bug: report it, with the log." },
      ],
    },
  },
];
