// Alerts about members that are missing, and about changes that do not go on.
import { type Alert, theCluster, whatItSays, whatMembersLog, whatTheOperatorLogs, whereMembersRun } from "../alert.ts";
import { reasonsThatMean } from "../../src/cluster/report/ready-reasons.ts";
import { healthy, progressIn, rolling, sameCluster, unlessRollGoesOn, wanted } from "../expressions.ts";

/** Reasons of the condition Ready that other alerts are about. */
const toldOtherwise = new Set(["QuorumLost", "DataLost", "NoSpace", "Corrupt"]);
/** It may get better by itself. After minutes it does not. */
const shouldHavePassed = ["MembersUnreachable"];

/** Of the condition Ready, where a person should look. */
const stalledReasons: readonly string[] = [
  ...reasonsThatMean("stalled", "degraded").filter((reason) => !toldOtherwise.has(reason)),
  ...shouldHavePassed,
];

const reasons = stalledReasons.join("|");

export const memberAlerts: readonly Alert[] = [
  {
    name: "EtcdMemberDown",
    expr: `${wanted} - ${healthy} > 0 ${unlessRollGoesOn}`,
    for: "5m",
    severity: "warning",
    summary: `etcd ${theCluster} lacks members.`,
    description: `{{ $value }} of the members that ${theCluster} asks for are not healthy voters, for five minutes. The operator replaces a lost one within a minute, so something keeps it from that.`,
    runbook: {
      meaning:
        "Fewer voters are healthy than `spec.size` asks for. Counted by the operator, which also knows of pods that are gone. A roll that goes on does not count.",
      impact: "Fewer members may fail before writes stop. See [EtcdQuorumAtRisk](EtcdQuorumAtRisk.md).",
      diagnosis: [whatItSays, whereMembersRun, whatMembersLog, whatTheOperatorLogs],
      mitigation: [
        {
          say: "A pod that is Pending: `kubectl describe pod` says why. Most often no node fits, or its volume is on a node that is gone.",
        },
        {
          say: "A member with a volume on a node that will not come back: delete its claim and its pod, and the operator adds a new member in its place.",
          run: ["kubectl delete pvc,pod POD -n NAMESPACE --wait=false"],
        },
        { say: "A container that ends again and again: [troubleshooting.md](../troubleshooting.md) lists the causes." },
      ],
    },
  },
  {
    name: "EtcdRollStuck",
    expr: `${rolling} == 1 unless ${sameCluster} ${progressIn("30m")}`,
    for: "15m",
    severity: "warning",
    summary: `The change of members of etcd ${theCluster} does not go on.`,
    description: `Members of ${theCluster} are to be changed, and for half an hour none was.`,
    runbook: {
      meaning:
        "The version or a setting in the spec differs from what members have. The operator changes one after another, and for half an hour it has changed none.",
      impact: "The cluster serves with members of both kinds. Further edits wait.",
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
          say: "It waits for a member that is not healthy: mend that one. It waits for room in the database: [EtcdDatabaseNearQuota](EtcdDatabaseNearQuota.md).",
        },
        {
          say: "An image or a setting is wrong: correct the spec, or set it back; the operator undoes what it did. [Stop and undo](../upgrades.md#stop-and-undo) says how.",
        },
      ],
    },
  },
  {
    name: "EtcdClusterStalled",
    expr: `count by (namespace, etcd_cluster, reason) (etcd_operator_cluster_condition{type="Ready",reason=~"${reasons}"} == 0)`,
    for: "5m",
    severity: "warning",
    summary: `etcd ${theCluster} waits for a person: {{ $labels.reason }}.`,
    description: `The condition Ready of ${theCluster} is False with the reason {{ $labels.reason }}, for five minutes. Its message says what to do.`,
    runbook: {
      meaning: `The condition \`Ready\` is \`False\` with a reason that a person has to remove, or should look at: ${stalledReasons.map((one) => `\`${one}\``).join(", ")}.`,
      impact:
        "The cluster goes on as it is, if it serves. What the spec asks for is not done, and in some of these cases members are not healed either.",
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
