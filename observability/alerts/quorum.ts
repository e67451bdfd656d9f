// Alerts about the majority: lost, one fault away from it, without a leader, or with too many of them.
import { conditionTypes, reasonsToldBy } from "../../src/api/conditions.ts";
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

const lost = reasonsToldBy("EtcdQuorumLost", conditionTypes.EtcdCluster.Available.reasons.False).join("|");
const unavailable = ofCluster(`etcd_operator_cluster_condition{type="Available",reason=~"${lost}"}`);

export const quorumAlerts: readonly Alert[] = [
  {
    name: "EtcdQuorumLost",
    expr: `${healthy} and ${sameCluster} ${unavailable} == 0`,
    for: "1m",
    severity: "critical",
    summary: `etcd ${theCluster} has lost its quorum.`,
    description: `Fewer than a majority of the voters of ${theCluster} answer: nothing can be written. A restore in progress does not count.`,
    runbook: {
      meaning:
        "Fewer than a majority of the voters answer, for more than a minute: 1 of 3, or 2 of 5. The condition `Available` has the reason `QuorumLost` when enough members still have their data, and `DataLost` when they have not.",
      impact:
        "Writes and linearizable reads fail. What was acknowledged is safe as long as the reason is `QuorumLost`.",
      diagnosis: [
        {
          say: "See which of the two it is, and what the sentence advises.",
          run: [
            `kubectl get etcd CLUSTER -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type=="Available")].message}'`,
          ],
        },
        whereMembersRun,
        { say: "See whether nodes are down.", run: ["kubectl get nodes"] },
        whatMembersLog,
      ],
      mitigation: [
        {
          say: "`QuorumLost`: bring back what keeps the pods from running (nodes, images, volumes, network). The cluster goes on by itself as soon as a majority runs. Do not delete pods or claims: they hold the data.",
        },
        {
          say: "`DataLost`: save what a remaining member has, then restore the last backup. The message of the condition names the backup and the command.",
        },
        ...saveSnapshot,
        {
          say: "[When quorum is lost](../clusters.md#when-quorum-is-lost) and [Restore](../backups.md#restore) say more.",
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
    description: `{{ $value }} voters of ${theCluster} are healthy, just a majority, and for 15 minutes none has come back.`,
    runbook: {
      meaning:
        "Just a majority of the voters is healthy: 2 of 3, or 3 of 5. The operator replaces members that are lost within a minute, so something keeps it from that. A roll that goes on does not count.",
      impact: "None yet. One more fault stops all writes.",
      diagnosis: [whatItSays, whereMembersRun, whatMembersLog, whatTheOperatorLogs],
      mitigation: [
        {
          say: "Remove what keeps the member from running: most often a node that is gone while its volume is bound to it, no node that fits, an image that cannot be pulled, a quota.",
        },
        {
          say: "See that the cluster is not paused: a paused cluster is not healed.",
          run: ["kubectl get etcd CLUSTER -n NAMESPACE -o jsonpath='{.spec.paused}'"],
        },
        { say: "Until it is mended: no drains, no node upgrades, no deletion of its pods." },
      ],
    },
  },
  {
    name: "EtcdNoLeader",
    expr: `${ofMember(ofMembers("etcd_server_has_leader"))} == 0`,
    for: "1m",
    severity: "critical",
    summary: `The etcd member {{ $labels.pod }} of ${theCluster} has no leader.`,
    description: "It has followed nobody for a minute. Clients that are connected to it wait, or fail.",
    runbook: {
      meaning:
        "A member says that it has no leader. If all members say so, there is no majority or they cannot agree; if one does, it is cut off from the others.",
      impact: "The member serves only serializable reads. If all have none, nothing can be written.",
      diagnosis: [
        {
          say: "See which members answer, and who leads. Then ask the member itself whom it follows.",
          run: ["kubectl etcd members CLUSTER -n NAMESPACE", etcdctl("endpoint status -w table")],
        },
        whereMembersRun,
        whatMembersLog,
      ],
      mitigation: [
        {
          say: "One member: see that it reaches port 2380 of the others, by name. Look for a NetworkPolicy, a node that is cut off, DNS.",
        },
        {
          say: "All members: see [EtcdQuorumLost](EtcdQuorumLost.md). If all pods run: [EtcdSlowFsync](EtcdSlowFsync.md).",
        },
      ],
    },
  },
  {
    name: "EtcdLeaderChanges",
    expr: `${ofCluster(`increase(${ofMembers("etcd_server_leader_changes_seen_total")}[15m])`)} >= 4 unless ${sameCluster} ${ofCluster("max_over_time(etcd_operator_cluster_rolling[20m])")} == 1`,
    for: "5m",
    severity: "warning",
    summary: `etcd ${theCluster} elects leaders again and again.`,
    description: `${theCluster} has changed its leader {{ $value | printf "%.0f" }} times in 15 minutes, and no roll was under way.`,
    runbook: {
      meaning:
        "The leader changed four times or more in a quarter of an hour, and the operator did not change members, which moves the leader on purpose.",
      impact: "Each election stops writes for about a second. Clients see timeouts and latency.",
      diagnosis: [
        {
          say: "A leader that cannot write to its disk in time misses its heartbeats. Look at the panels about fsync and commit on the dashboard of the cluster.",
        },
        {
          say: "See whether members restart, or lack CPU.",
          run: ["kubectl top pods -n NAMESPACE -l etcd_cluster=CLUSTER"],
        },
        whereMembersRun,
        {
          say: "See what members say about heartbeats and elections.",
          run: ["kubectl logs -n NAMESPACE POD --since=15m | grep -E 'heartbeat|elected|overloaded'"],
        },
      ],
      mitigation: [
        {
          say: "Give the members faster disks and enough CPU (`spec.pod.resources`), and keep busy neighbours away from them.",
        },
        {
          say: "Where members are far from each other, raise heartbeat and election timeout in `spec.etcd.extraArgs`, as in `--heartbeat-interval=300` and `--election-timeout=3000`.",
        },
      ],
    },
  },
];
