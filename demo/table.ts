// The members of a cluster as the demo shows them: one row each, with its state.
import type { EtcdCluster } from "../src/api/etcd-cluster/etcd-cluster.ts";
import type { Pod } from "../src/kube/objects/kinds.ts";

export type MemberState = "waiting" | "starting" | "joining" | "member" | "leader" | "stopping" | "gone";

export interface MemberRow {
  readonly name: string;
  readonly node: string;
  readonly state: MemberState;
}

/** Oldest first. A member of `before`, the earlier rows, that has no pod any more is gone. */
export function memberRows(
  cluster: EtcdCluster | undefined,
  pods: readonly Pod[],
  before: readonly MemberRow[] = [],
): MemberRow[] {
  const present = pods
    .toSorted((a, b) => createdAt(a).localeCompare(createdAt(b)) || nameOf(a).localeCompare(nameOf(b)))
    .map((pod): MemberRow => ({ name: nameOf(pod), node: pod.spec?.nodeName ?? "", state: stateOf(pod, cluster) }));
  const names = new Set(present.map(({ name }) => name));
  const gone = before.filter(({ name }) => !names.has(name)).map((row): MemberRow => ({ ...row, state: "gone" }));
  return [...gone, ...present];
}

const nameOf = (pod: Pod): string => pod.metadata?.name ?? "";
const createdAt = (pod: Pod): string => pod.metadata?.creationTimestamp ?? "";

function stateOf(pod: Pod, cluster: EtcdCluster | undefined): MemberState {
  if (pod.metadata?.deletionTimestamp !== undefined) return "stopping";
  if (!pod.spec?.nodeName) return "waiting";
  if (isReady(pod)) return cluster?.status?.leader === nameOf(pod) ? "leader" : "member";
  return pod.status?.containerStatuses?.some(({ state }) => state?.running !== undefined) ? "joining" : "starting";
}

export function isReady(pod: Pod): boolean {
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "True" && pod.metadata?.deletionTimestamp === undefined;
}

/** Aligned lines; the first is the heading. */
export function tableLines(rows: readonly MemberRow[]): string[] {
  const cells = [["MEMBER", "NODE", "STATE"], ...rows.map(({ name, node, state }) => [name, node, state])];
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
