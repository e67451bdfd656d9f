// Alerts about the operator itself: whether it runs, leads, and does its work.
import { type Alert, type Step, theCluster, whatTheOperatorLogs } from "../alert.ts";
import { ofMembers, ourControllers, ourLeases, sameCluster, wanted } from "../expressions.ts";

const whereItRuns: Step = {
  say: "See whether it runs, and what it logged last.",
  run: [
    "kubectl get pods -n OPERATOR_NAMESPACE -l name=etcd-operator -o wide",
    "kubectl describe pods -n OPERATOR_NAMESPACE -l name=etcd-operator",
    "kubectl logs -n OPERATOR_NAMESPACE deployment/etcd-operator --tail=50",
  ],
};

const clustersGoOn =
  "Clusters go on serving: etcd does not need the operator. But members that are lost are not replaced, nothing is backed up, and certificates are not renewed.";

export const operatorAlerts: readonly Alert[] = [
  {
    name: "EtcdOperatorDown",
    expr: "absent(etcd_operator_controller_clusters)",
    for: "5m",
    severity: "critical",
    summary: "No etcd operator is running.",
    description: "Prometheus has heard of no etcd operator for five minutes: none runs, or none is scraped.",
    runbook: {
      meaning: "No process of the operator is scraped.",
      impact: clustersGoOn,
      diagnosis: [
        whereItRuns,
        {
          say: "If it runs: see whether Prometheus scrapes it, under Status, Targets. [What is scraped](../observability.md#what-is-scraped) says what it needs.",
        },
      ],
      mitigation: [
        {
          say: "Mend what keeps its pod from running: image, quota, node.",
          run: ["kubectl rollout restart -n OPERATOR_NAMESPACE deployment/etcd-operator"],
        },
        { say: "Run two replicas: the second takes over within seconds." },
      ],
    },
  },
  {
    name: "EtcdClusterUnattended",
    expr: `count by (namespace, etcd_cluster) (${ofMembers("etcd_server_has_leader")}) unless ${sameCluster} ${wanted}`,
    for: "10m",
    severity: "critical",
    summary: `No operator looks after etcd ${theCluster}.`,
    description: `{{ $value }} members of ${theCluster} run, and no operator says anything about it.`,
    runbook: {
      meaning:
        "Members of the cluster are scraped, and no operator reports on it: the operator of this namespace is down or not scraped, it does not watch this namespace, or it fails at every reconcile.",
      impact: clustersGoOn,
      diagnosis: [
        {
          say: "See whether its EtcdCluster is there, and whether an operator watches the namespace: one that runs with -cluster-wide leaves a cluster alone that an operator of its namespace looks after or did, until it has the annotation `etcd.database.coreos.com/scope: clusterwide`. The event `Not Taken` on the EtcdCluster says so.",
          run: ["kubectl get etcd CLUSTER -n NAMESPACE -o yaml"],
        },
        whereItRuns,
      ],
      mitigation: [
        { say: "Start the operator of the namespace, or add the annotation: [install.md](../install.md)." },
        {
          say: "Pods without an EtcdCluster: they were left behind by a deletion with `--cascade=orphan`. Create the EtcdCluster again, or delete them.",
        },
      ],
    },
  },
  {
    name: "EtcdOperatorNotLeading",
    expr: `max by (namespace, name) (leader_election_master_status{${ourLeases}}) == 0`,
    for: "2m",
    severity: "critical",
    summary: "No replica of the operator in {{ $labels.namespace }} leads ({{ $labels.name }}).",
    description: "Replicas run, and for two minutes none has held the Lease {{ $labels.name }}: nothing is done.",
    runbook: {
      meaning: "Replicas of the operator run, and none holds its Lease. Only the holder acts.",
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
          say: "The log says that the Lease may not be read or written: give it the rights of example/rbac. [What it may do](../install.md#what-it-may-do) lists them.",
        },
        {
          say: "The API server is slow or cannot be reached: mend that. A Lease of a process that is gone expires after 15 seconds; do not delete it.",
        },
      ],
    },
  },
  {
    name: "EtcdOperatorErrors",
    expr: `max by (namespace, name, controller) (controller_failures_in_a_row{${ourControllers}}) > 2`,
    for: "15m",
    severity: "warning",
    summary:
      "The operator fails at {{ $labels.controller }} {{ $labels.namespace }}/{{ $labels.name }} again and again.",
    description: "Its last {{ $value }} reconciles have failed, and none has succeeded for 15 minutes.",
    runbook: {
      meaning:
        "Every reconcile of this object ends with an error. It is tried again, at longer and longer intervals, at most a minute apart.",
      impact:
        "The object is not looked after. Others are. What is refused for a reason that a person can remove is not counted: that is [EtcdClusterStalled](EtcdClusterStalled.md).",
      diagnosis: [
        {
          say: "See which errors.",
          run: ['kubectl logs -n OPERATOR_NAMESPACE deployment/etcd-operator --since=15m | grep \'"level":"error"\''],
        },
        {
          say: "See what the API server answers: `kubernetes_api_requests_total` by `code`. 403: a right is missing. 429, 5xx: it is overloaded.",
        },
      ],
      mitigation: [
        { say: "A missing right: apply example/rbac of this release. A busy API server: it gets better with it." },
        { say: "Anything else is probably a bug: report it with the log." },
      ],
    },
  },
];
