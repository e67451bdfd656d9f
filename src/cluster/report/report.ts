// Writes down what was seen: the status when it differs, an event when something turned for the worse, and how long
// creation and recovery took.
import { EtcdCluster, type EtcdClusterStatus } from "../../api/etcd-cluster.ts";
import { fieldManager } from "../../api/install.ts";
import { findCondition } from "../../kube/objects/conditions.ts";
import { isConflict, isInvalid, isNotFound } from "../../kube/client/errors.ts";
import type { NewEvent } from "../../kube/objects/event-object.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import type { Outcome } from "../act/outcome.ts";
import { patchBetween, statusOf } from "./status.ts";
import type { Turn } from "../act/turn.ts";

export type Reported = "written" | "unchanged" | "outdated" | "refused";

/**
 * `outdated`: somebody else wrote meanwhile, and the next pass reports. `refused`: the object was stored before the rules
 * that forbid its name, and with it every status is refused. Then only an event can tell.
 */
export async function report(turn: Turn, outcome: Outcome): Promise<Reported> {
  const { world, cluster, pass, context, written } = turn;
  const after = statusOf(world, outcome, new Date(context.now()));
  const stored = (written ?? context.caches(cluster.metadata.namespace).clusters.get(keyOf(cluster)))?.status ?? {};
  const patch = patchBetween(stored, after);
  if (patch === undefined) return "unchanged";
  const { resourceVersion } = written?.metadata ?? cluster.metadata;
  try {
    await pass.api.mergePatch(
      EtcdCluster,
      keyOf(cluster),
      { metadata: { resourceVersion }, status: patch },
      { subresource: "status", fieldManager },
    );
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return "outdated";
    if (!isInvalid(error) || world.problems.length === 0) throw error;
    context.events.record(EtcdCluster, cluster, warning("Invalid Spec", world.problems.join(" ")));
    return "refused";
  }
  for (const happening of turnsForTheWorse(turn, after)) context.events.record(EtcdCluster, cluster, happening);
  measure(turn, after);
  return "written";
}

/** Conditions that are told as events, too, by their type and reason, with the reason that the event gets. */
const worthAnEvent: readonly (readonly [condition: string, reason: string, event: string])[] = [
  ["Available", "QuorumLost", "Quorum Lost"],
  ["Available", "DataLost", "Data Lost"],
  ["Ready", "Refused", "Refused"],
  ["Ready", "InvalidSpec", "Invalid Spec"],
  ["Ready", "MemberCannotStart", "Member Cannot Start"],
  ["Ready", "MembersUnreachable", "Members Unreachable"],
  ["Ready", "ForeignCluster", "Foreign Cluster"],
  ["Ready", "Corrupt", "Corrupt"],
  ["Ready", "NoSpace", "No Space"],
];

/** Told when it begins, and again when an edit has only made it wrong in another way: the condition says it all the time. */
function turnsForTheWorse({ cluster }: Turn, after: EtcdClusterStatus): NewEvent[] {
  const happenings = worthAnEvent.flatMap(([type, reason, event]) => {
    const is = after.conditions?.find((condition) => condition.type === type);
    const was = findCondition(cluster.status.conditions, type);
    if (is?.reason !== reason) return [];
    const wrongAnew = was?.observedGeneration !== is.observedGeneration && was?.message !== is.message;
    return was?.reason !== reason || wrongAnew ? [warning(event, is.message ?? "")] : [];
  });
  const { size } = cluster.spec;
  if (size % 2 === 0 && size > 0 && cluster.status.observedGeneration !== cluster.metadata.generation)
    happenings.push(
      warning("Even Size", `${size} members survive the loss of no more than ${size - 1} do: choose an odd size.`),
    );
  return happenings;
}

const warning = (reason: string, note: string): NewEvent => ({ type: "Warning", reason, action: "Report", note });

function measure({ cluster, context }: Turn, after: EtcdClusterStatus): void {
  const before = cluster.status;
  if (after.phase === "Failed" && before.phase !== "Failed") context.metrics.failed.add();
  const was = findCondition(before.conditions, "Recovering");
  const is = after.conditions?.find((condition) => condition.type === "Recovering");
  if (was?.status !== "True" || is?.status !== "False") return;
  context.metrics.recoverySeconds.observe({}, (context.now() - Date.parse(was.lastTransitionTime)) / 1000);
}
