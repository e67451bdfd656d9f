// Alerts about the majority: lost, one fault away from it, without a leader, or with too many of them.
import { conditionTypes, reasonsOfAlert } from "../../src/api/conditions.ts";
import {
  type Alert,
  etcdctl,
  saveSnapshot,
  theCluster,
  whatItSays,
  whatMembersLog,
  whatTheOperatorLogs,
  whereMembersRun,
} from "../alert.ts";
import { healthy, ofCluster, ofMember, ofMembers, sameCluster, unlessRollGoesOn, voters } from "../expressions.ts";

const lost = reasonsOfAlert("EtcdQuorumLost", conditionTypes.EtcdCluster.Available.reasons.False).join("|");
const unavailable = ofCluster(`etcd_operator_cluster_condition{type="Available",reason=~"${lost}"}`);

export const quorumAlerts: readonly Alert[] = [
  {
    name: "EtcdQuorumLost",
    expr: `${healthy} and ${sameCluster} ${unavailable} == 0`,
    for: "1m",
    severity: "critical",
    summary: `etcd ${theCluster} has lost its quorum.`,
    description: `Fewer than a majority of the voters of ${theCluster} answer, so etcd takes no writes. A restore in progress does not count.`,
    runbook: {
      meaning:
        "For more than a minute, fewer than a majority of the voters have answered, for example 1 of 3, or 2 of 5. The condition `Available` has the reason `QuorumLost` if enough members still have their data, and `DataLost` if not.",
      impact: "Writes and linearizable reads fail. Acknowledged writes are safe as long as the reason is `QuorumLost`.",
      diagnosis: [
        {
          say: "See which of the two reasons applies, and what the message advises.",
          run: [
            `kubectl get etcd CLUSTER -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type=="Available")].message}'`,
          ],
        },
        whereMembersRun,
        { say: "Check whether nodes are down.", run: ["kubectl get nodes"] },
        whatMembersLog,
      ],
      mitigation: [
        {
          say: "`QuorumLost`: fix what prevents the pods from running (nodes, images, volumes, network). The cluster recovers by itself as soon as a majority runs. Do not delete pods or claims: they hold the data.",
        },
        {
          say: "`DataLost`: save the data of a remaining member, then restore the last backup. The message of the condition names the backup and the command.",
        },
        ...saveSnapshot,
        {
          say: "See also [When quorum is lost](../clusters.md#when-quorum-is-lost) and [Restore](../backups.md#restore).",
        },
      ],
    },
  },
  {
    name: "EtcdQuorumAtRisk",
    expr: `${healthy} == floor(${voters} / 2) + 1 and ${healthy} < ${voters} ${unlessRollGoesOn}`,
    for: "15m",
    severity: "critical",
    summary: `etcd ${theCluster} loses its quorum with the next member that fails.`,
    description: `Only {{ $value }} voters of ${theCluster} are healthy, which is just a majority, and none has recovered for 15 minutes.`,
    runbook: {
      meaning:
        "Just a majority of the voters is healthy: 2 of 3, or 3 of 5. The operator normally replaces lost members within a minute, so something prevents that. A rolling change that makes progress does not count.",
      impact: "None yet. One more failure stops all writes.",
      diagnosis: [whatItSays, whereMembersRun, whatMembersLog, whatTheOperatorLogs],
      mitigation: [
        {
          say: "Fix what prevents the member from running: most often its volume is bound to a node that is gone, no node fits, an image cannot be pulled, or a quota is exceeded.",
        },
        {
          say: "Check that the cluster is not paused: a paused cluster is not healed.",
          run: ["kubectl get etcd CLUSTER -n NAMESPACE -o jsonpath='{.spec.paused}'"],
        },
        { say: "Until this is fixed, do not drain or upgrade nodes, and do not delete pods of the cluster." },
      ],
    },
  },
  {
    name: "EtcdNoLeader",
    expr: `${ofMember(ofMembers("etcd_server_has_leader"))} == 0`,
    for: "1m",
    severity: "critical",
    summary: `The etcd member {{ $labels.pod }} of ${theCluster} has no leader.`,
    description:
      "The member has had no leader for a minute. Requests of clients that are connected to it wait or fail.",
    runbook: {
      meaning:
        "A member reports that it has no leader. If all members do, there is no majority or they cannot agree; if only one does, it is cut off from the others.",
      impact: "The member serves only serializable reads. If no member has a leader, etcd takes no writes.",
      diagnosis: [
        {
          say: "See which members answer, and which one is the leader. Then ask the member itself which leader it follows.",
          run: ["kubectl etcd members CLUSTER -n NAMESPACE", etcdctl("endpoint status -w table")],
        },
        whereMembersRun,
        whatMembersLog,
      ],
      mitigation: [
        {
          say: "If it is one member, check that it reaches port 2380 of the others by name. Check NetworkPolicies, the network of its node, and DNS.",
        },
        {
          say: "If it is all members, see [EtcdQuorumLost](EtcdQuorumLost.md). If all pods run, see [EtcdSlowFsync](EtcdSlowFsync.md).",
        },
      ],
    },
  },
  {
    name: "EtcdLeaderChanges",
    expr: `${ofCluster(`increase(${ofMembers("etcd_server_leader_changes_seen_total")}[15m])`)} >= 4 unless ${sameCluster} ${ofCluster("max_over_time(etcd_operator_cluster_rolling[20m])")} == 1`,
    for: "5m",
    severity: "warning",
    summary: `etcd ${theCluster} changes its leader too often.`,
    description: `${theCluster} has changed its leader {{ $value | printf "%.0f" }} times in 15 minutes, and no rolling change was in progress.`,
    runbook: {
      meaning:
        "The leader changed at least four times in 15 minutes, and the operator was not changing members, which would move the leader on purpose.",
      impact: "Each election stops writes for about a second. Clients see timeouts and latency.",
      diagnosis: [
        {
          say: "A leader that cannot write to its disk in time misses its heartbeats. Check the panels about fsync and commit on the dashboard of the cluster.",
        },
        {
          say: "Check whether members restart, or lack CPU.",
          run: ["kubectl top pods -n NAMESPACE -l etcd_cluster=CLUSTER"],
        },
        whereMembersRun,
        {
          say: "See what members log about heartbeats and elections.",
          run: ["kubectl logs -n NAMESPACE POD --since=15m | grep -E 'heartbeat|elected|overloaded'"],
        },
      ],
      mitigation: [
        {
          say: "Give the members faster disks and enough CPU (`spec.pod.resources`), and keep busy workloads off their nodes.",
        },
        {
          say: "Where members are far from each other, raise heartbeat and election timeout in `spec.etcd.extraArgs`, as in `--heartbeat-interval=300` and `--election-timeout=3000`.",
        },
      ],
    },
  },
];
