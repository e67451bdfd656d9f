// Writes down what was concluded: the status when it differs, an event when something turned for the worse, and metrics.
import { rowOf, conditionOf } from "../../api/conditions.ts";
import { EtcdCluster, type EtcdClusterStatus } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { KnownEvent } from "../../api/events.ts";
import { warningOn } from "../../etcd/versions/steps.ts";
import { parseVersion } from "../../etcd/versions/version.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import { printableValue } from "../../kube/objects/printable.ts";
import type { ClusterAction } from "../plan/actions.ts";
import type { ClusterExecution } from "../act/execution.ts";
import type { ClusterOutcome } from "../act/outcome.ts";
import { spaceOf } from "../assess/space.ts";
import { patchBetween, statusOf } from "./status.ts";
import { eventOf } from "../../controllers/event.ts";
import { type Reported, reportStatus } from "../../controllers/report-status.ts";
import type { Assessment } from "../assess/assess.ts";
import { isRolling } from "../assess/roll.ts";
import type { ClusterMeasured } from "../metrics.ts";

export async function report(execution: ClusterExecution, outcome: ClusterOutcome): Promise<Reported> {
  const { assessment, reconcile, context, written } = execution;
  const { cluster, problems } = assessment.world;
  // What was assessed is the cluster before this write: the next reconcile reports.
  const isOlder = ({ do: what }: ClusterAction): boolean =>
    what === "beginRestore" || what === "beginSeed" || what === "nameFirstMembers";
  if (outcome.did.some(isOlder)) return "outdated";
  // Names and versions come from members, which may say anything.
  const after = { ...printableValue(statusOf(assessment, outcome)), ...restoreIn(written) };
  const stored = (written ?? context.caches(cluster.metadata.namespace).clusters.get(keyOf(cluster)))?.status ?? {};
  const patch = patchBetween(stored, after);
  context.metrics.certificatesOf(keyOf(cluster), assessment.certificates);
  context.metrics.membersOf(keyOf(cluster), measuredOf(assessment, after));
  const space = spaceOf(assessment.world);
  if (space !== undefined) context.metrics.spaceOf(keyOf(cluster), space);
  const object = written ?? cluster;
  const reported = await reportStatus({ kind: EtcdCluster, object, patch, problems }, reconcile);
  if (reported === "refused") context.events.record(EtcdCluster, cluster, eventOf(["invalidSpec", problems.join(" ")]));
  if (reported !== "written") return reported;
  for (const event of turnsForTheWorse(execution, after)) context.events.record(EtcdCluster, cluster, event);
  measure(execution, after);
  return "written";
}

/** How far a restore is was written by the actions themselves, before what they did. */
function restoreIn(written: EtcdCluster | undefined): Pick<EtcdClusterStatus, "restore"> {
  const restore = written?.status?.restore;
  return restore === undefined ? {} : { restore };
}

/** Conditions whose reasons are reported as events, too, where the table of conditions names one. */
const reported = ["Available", "Ready", "DiskPressure"] as const;

/** When it begins, and again when an edit has only made it wrong in another way: the condition says it all the time. */
function turnsForTheWorse({ assessment }: ClusterExecution, after: EtcdClusterStatus): KnownEvent[] {
  const { cluster } = assessment.world;
  const events = reported.flatMap((type) => {
    const is = conditionOf(after.conditions, type);
    const was = conditionOf(cluster.status.conditions, type);
    const event = rowOf("EtcdCluster", type, is)?.event;
    if (is === undefined || event === undefined) return [];
    const wrongAnew = was?.observedGeneration !== is.observedGeneration && was?.message !== is.message;
    return was?.reason !== is.reason || wrongAnew ? [eventOf([event, is.message ?? ""])] : [];
  });
  events.push(...certificateEvents(assessment, after));
  if (cluster.status.observedGeneration !== cluster.metadata.generation) events.push(...warningsOn(assessment));
  return events;
}

/** What an edit leaves unwise, though it can be done. */
function warningsOn({ roll, world: { cluster } }: ClusterExecution["assessment"]): KnownEvent[] {
  const { size, version } = cluster.spec;
  const isEven = size % 2 === 0 && size > 0;
  const wanted = roll.target.refused === undefined ? parseVersion(version) : undefined;
  const unsafe = wanted && warningOn(wanted);
  return [
    ...(isEven
      ? [eventOf(["evenSize", `${size} members survive the loss of no more than ${size - 1} do: choose an odd size.`])]
      : []),
    ...(unsafe === undefined ? [] : [eventOf(["versionUnsafe", unsafe])]),
  ];
}

/** When something is wrong, or expires, and that was not said before. */
function certificateEvents(
  { world: { cluster }, certificates: { inUse } }: ClusterExecution["assessment"],
  after: EtcdClusterStatus,
): KnownEvent[] {
  const is = conditionOf(after.conditions, "CertificatesValid");
  const was = conditionOf(cluster.status.conditions, "CertificatesValid");
  if (is === undefined || (is.reason === was?.reason && is.message === was?.message)) return [];
  // One that expired in the Secret of a person, and is not in use, is a Secret like others that cannot be used.
  const expired = is.reason === "Expired" && inUse.some(({ warning }) => warning === "expired");
  const event = expired ? "certificateExpires" : rowOf("EtcdCluster", "CertificatesValid", is)?.event;
  return event === undefined ? [] : [eventOf([event, is.message ?? ""])];
}

function measure({ assessment, context }: ClusterExecution, after: EtcdClusterStatus): void {
  const before = assessment.world.cluster.status;
  if (after.phase === "Failed" && before.phase !== "Failed") context.metrics.failed.add();
  const was = conditionOf(before.conditions, "Recovering");
  const is = conditionOf(after.conditions, "Recovering");
  if (was?.status !== "True" || is?.status !== "False") return;
  context.metrics.recoverySeconds.observe({}, (context.now() - Date.parse(was.lastTransitionTime)) / 1000);
}

/** What is measured of a cluster for its metrics: members, alarms and conditions, as they were assessed and reported. */
function measuredOf(assessment: Assessment, { conditions = [] }: EtcdClusterStatus): ClusterMeasured {
  const { desired, instances, voters, roll, world } = assessment;
  const { cluster, etcd } = world;
  const isKnown = instances.length > 0;
  return {
    wanted: desired.size,
    healthy: etcd.t === "accessDenied" ? etcd.serving.length : voters.filter(({ alive }) => alive).length,
    voters: isKnown ? voters.length : undefined,
    updated: isKnown ? roll.updated : undefined,
    rolling: isRolling(world) && !cluster.spec.paused && (roll.changes.length > 0 || roll.waits !== undefined),
    alarms: { noSpace: raised(assessment, "noSpace"), corrupt: raised(assessment, "corrupt") },
    conditions: conditions.map(({ type, status, reason }) => ({ type, status, reason })),
  };
}

function raised({ world: { etcd } }: Assessment, type: "noSpace" | "corrupt"): number {
  const answers = "answers" in etcd ? [...etcd.answers.values()] : [];
  const members = answers.flatMap(({ status }) => status.alarms.filter((alarm) => alarm.type === type));
  return new Set(members.map(({ member }) => member)).size;
}
