// The highest revision that was ever seen of a cluster: what clients may have been told. Data that is restored in its place
// goes past it, so that nobody sees a revision twice.
import type { ClusterWorld } from "../observe/world.ts";

/** In the status, or of whoever answers now, with a quorum or without. */
export function highestRevisionIn(world: Pick<ClusterWorld, "cluster" | "etcd">): number {
  const { status } = world.cluster;
  return Math.max(status.highestRevision ?? 0, status.revision ?? 0, revisionIn(world) ?? 0);
}

/** The highest of whoever answers now. It may be lower than it once was. Undefined: nobody does. */
export function revisionIn({ etcd }: Pick<ClusterWorld, "etcd">): number | undefined {
  const answers = "answers" in etcd ? [...etcd.answers.values()] : [];
  const seen = answers.map((answer) => answer.status.revision).filter(Number.isSafeInteger);
  return seen.length === 0 ? undefined : Math.max(...seen);
}
