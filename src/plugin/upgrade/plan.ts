// What an upgrade would do, step by step, and what blocks it: from the same table of steps that the operator goes by.
import { problemsOf, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { freshLogBefore, pathBetween, stepBetween, whyByReplacement } from "../../etcd/versions/steps.ts";
import {
  compareVersions,
  type EtcdVersion,
  formatVersion,
  isAtLeast,
  parseVersion,
  version,
} from "../../etcd/versions/version.ts";
import type { Observed } from "../observe/observe.ts";
import type { ClusterView } from "../view/cluster-view.ts";

export interface UpgradePlan {
  readonly name: string;
  readonly from: readonly string[];
  readonly to: string;
  readonly steps: readonly PlanStep[];
  /** Why it cannot begin as things are, and what to do. */
  readonly forbidden: readonly string[];
  readonly notes: readonly string[];
}

interface PlanStep {
  readonly version: string;
  readonly does: readonly string[];
}

export function upgradePlan(observed: Observed, view: ClusterView, to: EtcdVersion, automatic: boolean): UpgradePlan {
  const cluster = withDefaults(observed.cluster);
  const running = view.version.running.flatMap((text) => parseVersion(text) ?? []);
  const wanted = parseVersion(cluster.spec.version);
  const from = running.toSorted(compareVersions)[0] ?? wanted;
  const base = { name: view.name, from: view.version.running, to: formatVersion(to) };
  if (from === undefined)
    return {
      ...base,
      steps: [],
      notes: [],
      forbidden: ["The running version is unknown: wait until a member answers."],
    };
  const path = pathBetween(from, to);
  if (path.t === "refused") return { ...base, steps: [], notes: [], forbidden: [capital(path.advice)] };
  const steps = path.versions.map((next, at) => stepOf(path.versions[at - 1] ?? from, next, observed));
  return {
    ...base,
    steps,
    forbidden: [...obstacles(observed, view, to), ...pathProblem(observed, path.versions.length, automatic)],
    notes: notesOn(observed, from, to),
  };
}

function stepOf(from: EtcdVersion, to: EtcdVersion, { cluster }: Observed): PlanStep {
  const step = stepBetween(from, to);
  const why = whyByReplacement(from, to);
  const log = freshLogBefore(to);
  const knownLog = parseVersion(`${cluster.status?.raftLogVersion ?? ""}.0`);
  const isLogOld = log !== undefined && (knownLog === undefined || !isAtLeast(knownLog, version(`${log.minor}.0`)));
  const does = [
    ...(isLogOld && step.t === "upgrade"
      ? [
          `Every member writes a snapshot of its log first, by way of a downgrade that is enabled and cancelled: ${log.because}.`,
        ]
      : []),
    ...(step.t === "downgrade" ? [`etcd prepares the data (downgrade enable), and every member converts it.`] : []),
    "The operator tries the image on each node before a member gets it.",
    why === undefined
      ? "The members restart in place with the new image, one at a time, the leader last; leadership moves before that."
      : `The operator replaces the members one at a time, and each new one copies the database: ${why}.`,
  ];
  return { version: formatVersion(to), does };
}

function obstacles({ cluster: stored }: Observed, { ready, alarms }: ClusterView, to: EtcdVersion): string[] {
  const cluster = withDefaults(stored);
  const { paused, image, updateStrategy } = cluster.spec;
  const problems = problemsOf({ ...stored, spec: { ...stored.spec, version: formatVersion(to) } });
  return [
    ...problems,
    ...(paused ? ["The cluster is paused: run `kubectl etcd resume` first."] : []),
    ...(alarms.length > 0 ? [`An alarm is active (${alarms.join(", ")}): resolve it first.`] : []),
    ...(image === undefined
      ? []
      : [`spec.image is set to ${image}: change it together with spec.version, or remove it, with kubectl edit.`]),
    ...(ready.status === "True" || ready.reason === "UpdateOnDelete" || updateStrategy === "OnDelete"
      ? []
      : [`The cluster is not ready, and the operator changes members only while all are healthy: ${ready.sentence}`]),
  ];
}

function pathProblem({ cluster }: Observed, steps: number, automatic: boolean): string[] {
  if (steps < 2 || automatic || withDefaults(cluster).spec.upgrade.path === "Automatic") return [];
  return [
    `${steps} steps, and spec.upgrade.path is Manual: upgrade to the first version only, or add --automatic to let the operator take all steps.`,
  ];
}

function notesOn({ cluster }: Observed, from: EtcdVersion, to: EtcdVersion): string[] {
  const { spec } = withDefaults(cluster);
  const crosses = from.minor <= 4 && to.minor >= 5;
  return [
    ...(spec.updateStrategy === "OnDelete"
      ? ["spec.updateStrategy is OnDelete: each member waits until you delete its pod."]
      : []),
    ...(spec.auth === undefined || !crosses
      ? []
      : ["etcd does not support 3.4 to 3.5 while authentication is on: disable it for the upgrade."]),
    ...(spec.size < 3
      ? [`With ${spec.size === 1 ? "one member" : "two members"} the cluster serves nothing while a member restarts.`]
      : []),
    "Take a backup first: `kubectl etcd backup`.",
  ];
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
