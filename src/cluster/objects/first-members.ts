// The members that a restored cluster begins with. They are named in the plan of the restore, in the status of the
// EtcdCluster, before any of them is made: each is made from the backup with the same list. Their pods are held back by a
// scheduling gate until all of them are there and written down; from then on none of them is ever made again.
import { type CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { NewMember } from "../../worker/job.ts";
import { firstMemberName, type MemberName, peerUrlOf } from "./names.ts";
import type { Scheme } from "./tls.ts";

export interface FirstMember extends NewMember {
  readonly name: MemberName;
  /** The uid of its pod, once that may run: it may have voted, so no other pod is made for it, even if it is gone. */
  readonly pod?: string;
}

/** Nothing of a pod runs as long as it has this. */
export const firstMembersGate = `${EtcdCluster.group}/first-members`;

/** One try to begin. The members of another try have other names, and so other ids: they never meet these. */
export interface Beginning {
  readonly attempt: number;
  readonly members: readonly FirstMember[];
}

/** How many members of a cluster that is being restored begin together, and once they are named, which. */
export interface PlannedBeginning {
  readonly together: number;
  readonly beginning?: Beginning;
}

/** The same for the same EtcdRestore and attempt, so two operators name the same members. */
export function namedBeginning(
  cluster: CompleteEtcdCluster,
  restoreUid: string,
  { attempt, count, scheme }: { readonly attempt: number; readonly count: number; readonly scheme: Scheme },
): Beginning {
  const members = Array.from({ length: count }, (_, index) => {
    const name = firstMemberName(cluster, restoreUid, attempt, index);
    return { name, peerUrl: peerUrlOf(cluster, name, scheme) };
  });
  return { attempt, members };
}

/** Undefined: no first members are made, or an older operator has begun and makes one alone. */
export function plannedBeginning({
  status: { restore },
}: Pick<CompleteEtcdCluster, "status">): PlannedBeginning | undefined {
  if (restore?.phase !== "Seeding") return undefined;
  try {
    const plan: unknown = JSON.parse(restore.plan ?? "");
    return isPlanned(plan) ? plan : undefined;
  } catch {
    return undefined;
  }
}

export function firstMembersOf(cluster: Pick<CompleteEtcdCluster, "status">): readonly FirstMember[] {
  return plannedBeginning(cluster)?.beginning?.members ?? [];
}

/** What somebody made of it by hand counts for nothing. */
function isPlanned(plan: unknown): plan is PlannedBeginning {
  if (typeof plan !== "object" || plan === null || !("together" in plan)) return false;
  if (typeof plan.together !== "number") return false;
  return !("beginning" in plan) || isBeginning(plan.beginning);
}

function isBeginning(found: unknown): found is Beginning {
  if (typeof found !== "object" || found === null || !("attempt" in found) || !("members" in found)) return false;
  return typeof found.attempt === "number" && Array.isArray(found.members) && found.members.every(isMember);
}

const isMember = (found: unknown): found is FirstMember =>
  typeof found === "object" &&
  found !== null &&
  "name" in found &&
  typeof found.name === "string" &&
  "peerUrl" in found &&
  typeof found.peerUrl === "string";
