// What happens to a cluster right now, why, and what it waits for, in sentences: from its conditions, its spec and the
// restore that replaces its data.
import { conditionOf } from "../../api/conditions.ts";
import { withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { restoreRequestOf } from "../../api/etcd-cluster/restore-annotation.ts";
import { type Observed, valueOr } from "../observe/observe.ts";

export function activityOf(observed: Observed): string[] {
  const cluster = withDefaults(observed.cluster);
  const { status, spec, metadata } = cluster;
  const said: string[] = [];
  if (metadata.deletionTimestamp !== undefined) said.push("The EtcdCluster is being deleted.");
  if (spec.paused)
    said.push("Paused: the operator does not heal, scale or update it. Resume it with `kubectl etcd resume`.");
  if (metadata.generation !== undefined && (status.observedGeneration ?? 0) < metadata.generation)
    said.push("The operator has not acted on the last edit yet.");
  const restoring = restoreOf(observed);
  if (restoring !== undefined) said.push(restoring);
  for (const type of ["Recovering", "Upgrading", "Scaling"] as const) {
    const { status: holds, reason = "", message = "" } = conditionOf(status.conditions, type) ?? {};
    if (holds === "True")
      said.push(`${withoutRepeating(message, conditionOf(status.conditions, "Ready")?.message) || reason}.`);
  }
  const waiting = conditionOf(status.conditions, "Ready");
  const isNew = waiting?.status === "False" && !said.some((one) => one.includes(waiting.message));
  if (waiting !== undefined && isNew && waiting.message !== "") said.push(`Waits: ${waiting.message}`);
  return said;
}

/** The name of the EtcdRestore that replaces the data, or is about to. */
export function activeRestoreOf(observed: Observed): string | undefined {
  const { cluster, restores } = observed;
  const asked = restoreRequestOf(cluster);
  const underWay = cluster.status?.restore;
  const name = underWay !== undefined && underWay.phase !== "Done" ? underWay.name : asked?.name;
  const restore = valueOr(restores, []).find(({ metadata }) => metadata?.name === name);
  const isOver = restore?.status?.phase === "Succeeded" || restore?.status?.phase === "Failed";
  return isOver || (restore === undefined && underWay?.phase === "Done") ? undefined : name;
}

function restoreOf(observed: Observed): string | undefined {
  const name = activeRestoreOf(observed);
  if (name === undefined) return undefined;
  const said = valueOr(observed.restores, []).find(({ metadata }) => metadata?.name === name)?.status?.message;
  return `Restoring with the EtcdRestore ${name}${said === undefined ? "." : `: ${said}`}`;
}

/** `upgrading to 3.7.3: 1 of 3 …`, where Ready says `1 of 3 …`, is `Upgrading to 3.7.3`. */
function withoutRepeating(message: string, ready = ""): string {
  const own = ready !== "" && message.endsWith(ready) ? message.slice(0, -ready.length) : message;
  const text = own.replace(/[:.\s]+$/, "");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
