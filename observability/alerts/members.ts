// Alerts about members that are missing, and about changes that do not go on.
import { type Alert, theCluster, whatItSays, whatMembersLog, whatTheOperatorLogs, whereMembersRun } from "../alert.ts";
import { conditionTypes, reasonsOfAlert } from "../../src/api/conditions.ts";
import { healthy, progressIn, rolling, sameCluster, unlessRollGoesOn, wanted } from "../expressions.ts";

/** The reasons of Ready that a person should check, or that should be over after minutes. */
const stalledReasons = reasonsOfAlert("EtcdClusterStalled", conditionTypes.EtcdCluster.Ready.reasons.False);

const reasons = stalledReasons.join("|");

export const memberAlerts: readonly Alert[] = [
  {
    name: "EtcdMemberDown",
    expr: `${wanted} - ${healthy} > 0 ${unlessRollGoesOn}`,
    for: "5m",
    severity: "warning",
    summary: `etcd ${theCluster} has fewer healthy members than it should.`,
    description: `{{ $value }} of the members that ${theCluster} asks for have not been healthy voters for 5 minutes. The operator normally replaces a lost member within a minute, so something prevents that.`,
    runbook: {
      meaning:
        "Fewer voters are healthy than `spec.size` asks for. The operator counts them, so pods that are gone are included. A rolling change that makes progress does not count.",
      impact: "Fewer members may fail before writes stop. See [EtcdQuorumAtRisk](EtcdQuorumAtRisk.md).",
      diagnosis: [whatItSays, whereMembersRun, whatMembersLog, whatTheOperatorLogs],
      mitigation: [
        {
          say: "If a pod is Pending, `kubectl describe pod` says why. Most often no node fits, or its volume is on a node that is gone.",
        },
        {
          say: "If a member's volume is on a node that will not come back, delete its claim and its pod, and the operator replaces the member.",
          run: ["kubectl delete pvc,pod POD -n NAMESPACE --wait=false"],
        },
        {
          say: "If a container restarts again and again, [troubleshooting.md](../troubleshooting.md) lists the causes.",
        },
      ],
    },
  },
  {
    name: "EtcdRollStuck",
    expr: `${rolling} == 1 unless ${sameCluster} ${progressIn("30m")}`,
    for: "15m",
    severity: "warning",
    summary: `The rolling change of etcd ${theCluster} is stuck.`,
    description: `Members of ${theCluster} have to be changed, and none has been changed for 30 minutes.`,
    runbook: {
      meaning:
        "The version or a setting in the spec differs from that of some members. The operator changes members one at a time, and has changed none for 30 minutes.",
      impact: "The cluster serves with old and new members. Further changes wait.",
      diagnosis: [
        {
          say: "`Ready` says which member is next and what it waits for; `Upgrading` says how far it is.",
          run: [`kubectl get etcd CLUSTER -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type=="Ready")].message}'`],
        },
        whereMembersRun,
        whatMembersLog,
      ],
      mitigation: [
        {
          say: "If it waits for a member that is not healthy, fix that member. If it waits for room in the database, see [EtcdDatabaseNearQuota](EtcdDatabaseNearQuota.md).",
        },
        {
          say: "If an image or a setting is wrong, correct the spec or revert it; the operator undoes the change. See [Stop and undo](../upgrades.md#stop-and-undo).",
        },
      ],
    },
  },
  {
    name: "EtcdClusterStalled",
    expr: `count by (namespace, etcd_cluster, reason) (etcd_operator_cluster_condition{type="Ready",reason=~"${reasons}"} == 0)`,
    for: "5m",
    severity: "warning",
    summary: `etcd ${theCluster} needs your intervention: {{ $labels.reason }}.`,
    description: `The condition Ready of ${theCluster} has been False with the reason {{ $labels.reason }} for 5 minutes. Its message says what to do.`,
    runbook: {
      meaning: `The condition \`Ready\` is \`False\` with a reason that somebody has to resolve, or should check: ${stalledReasons.map((one) => `\`${one}\``).join(", ")}.`,
      impact:
        "If the cluster serves, it continues as it is. Changes of the spec are not applied, and for some of these reasons members are not healed either.",
      diagnosis: [
        {
          say: "Read the message: it says what is wrong, and what to do.",
          run: [
            `kubectl get etcd CLUSTER -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type=="Ready")].message}'`,
            "kubectl events -n NAMESPACE --for etcdcluster/CLUSTER --types=Warning",
          ],
        },
      ],
      mitigation: [
        { say: "Do what the message says. [troubleshooting.md](../troubleshooting.md) explains each reason." },
        { say: "`AuthRequired`, `LoginRefused`: [auth.md](../auth.md#when-etcd-refuses-the-operator)." },
      ],
    },
  },
];
