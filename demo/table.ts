// The members of a cluster as the demo shows them: one row each, with its state and version; and how columns are aligned.
import type { EtcdCluster } from "../src/api/etcd-cluster/etcd-cluster.ts";
import type { Pod } from "../src/kube/objects/kinds.ts";

export type MemberState = "waiting" | "starting" | "joining" | "member" | "leader" | "stopping" | "gone";

export interface MemberRow {
  readonly name: string;
  readonly node: string;
  /** The version of the etcd that runs, as in 3.6.16; empty where the image does not say. */
  readonly version: string;
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
    .map((pod): MemberRow => {
      const [name, node] = [nameOf(pod), pod.spec?.nodeName ?? ""];
      return { name, node, version: versionOf(pod), state: stateOf(pod, cluster) };
    });
  const names = new Set(present.map(({ name }) => name));
  const gone = before.filter(({ name }) => !names.has(name)).map((row): MemberRow => ({ ...row, state: "gone" }));
  return [...gone, ...present];
}

const nameOf = (pod: Pod): string => pod.metadata?.name ?? "";
const createdAt = (pod: Pod): string => pod.metadata?.creationTimestamp ?? "";

/** What runs; before anything does, what is to run. An image that has several tags may be reported without any. */
function versionOf(pod: Pod): string {
  const runs = pod.status?.containerStatuses?.find(({ name }) => name === "etcd")?.image ?? "";
  const wanted = pod.spec?.containers.find(({ name }) => name === "etcd")?.image ?? "";
  return tagOf(runs) ?? tagOf(wanted) ?? "";
}

const tagOf = (image: string): string | undefined => /:v?(\d+\.\d[\w.-]*)$/.exec(image)?.[1];

function stateOf(pod: Pod, cluster: EtcdCluster | undefined): MemberState {
  if (pod.metadata?.deletionTimestamp !== undefined) return "stopping";
  if (!pod.spec?.nodeName) return "waiting";
  if (isReady(pod) || isVoterOfReady(nameOf(pod), cluster))
    return cluster?.status?.leader === nameOf(pod) ? "leader" : "member";
  return pod.status?.containerStatuses?.some(({ state }) => state?.running !== undefined) ? "joining" : "starting";
}

/** The operator has asked etcd; the kubelet's next probe may be a second away. */
function isVoterOfReady(name: string, cluster: EtcdCluster | undefined): boolean {
  return isClusterReady(cluster) && (cluster?.status?.voters?.includes(name) ?? false);
}

/** Ready, and concluded from the current spec. */
export function isClusterReady(cluster: EtcdCluster | undefined): boolean {
  const ready = cluster?.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "True" && (ready.observedGeneration ?? 0) >= (cluster?.metadata?.generation ?? 0);
}

export function isReady(pod: Pod): boolean {
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "True" && pod.metadata?.deletionTimestamp === undefined;
}

/** Aligned lines; the first is the heading. */
export function tableLines(rows: readonly MemberRow[]): string[] {
  return aligned([
    ["MEMBER", "VERSION", "STATE", "NODE"],
    ...rows.map(({ name, version, state, node }) => [name, version || "-", state, node || "-"]),
  ]);
}

/** Each column as wide as its widest cell. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
