// How far the data of a cluster has been replaced by that of a backup. The annotation asks for it, and the status says how
// far it is: what has begun is finished whatever becomes of the annotation, and what is done is not done again.
import type { AskingRestore, ClusterWorld } from "../observe/world.ts";
import { isKnownToHaveServed } from "./health.ts";

type RestoreStatus = NonNullable<ClusterWorld["cluster"]["status"]["restore"]>;

/** The first members serve: what they were made from is not needed any more. */
export function withoutPlan(restore: RestoreStatus): Omit<RestoreStatus, "plan"> {
  const { plan: _, ...rest } = restore;
  return { ...rest, phase: "Done" };
}

/** The EtcdRestore. */
type Named = Pick<AskingRestore, "name" | "uid">;

export type Restoring =
  | { readonly t: "no" }
  | ({ readonly t: "asked" } & Named)
  /** The members that were there go; their volumes are kept. */
  | ({ readonly t: "stopping" } & Named)
  /** They are gone, and the first members are made from the backup. */
  | ({ readonly t: "seeding" } & Named);

export function restoringOf({ asking, cluster }: Pick<ClusterWorld, "asking" | "cluster">): Restoring {
  const { restore } = cluster.status;
  if (restore?.phase === "Stopping") return { t: "stopping", name: restore.name, uid: restore.uid };
  if (asking !== undefined && stands(asking, isKnownToHaveServed(cluster.status)))
    return { t: "asked", name: asking.name, uid: asking.uid };
  return restore?.phase === "Seeding" ? { t: "seeding", name: restore.name, uid: restore.uid } : { t: "no" };
}

/**
 * When an EtcdRestore cannot be read, only what was surely written to this EtcdCluster stands: it is refused in a sentence.
 * Who deletes it gives it up, and a cluster that serves goes on; one that was made for the restore does not begin empty.
 */
function stands({ is, to }: AskingRestore, hasServed: boolean): boolean {
  if (is === "gone" && hasServed) return false;
  return is === "underWay" || (is !== "over" && to !== "unsaid");
}

/**
 * The highest revision that was ever seen: what clients may have been told. Data that is restored goes past it, so that nobody
 * sees a revision twice.
 */
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
