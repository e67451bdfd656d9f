// What the first members of a restored cluster are made from. It is written into the status of the cluster before anything is
// stopped, so that the restore can be finished whatever becomes of the EtcdRestore. It names Secrets and holds none.
import { EtcdBackup, withDefaults as completeBackup } from "../../api/etcd-backup/etcd-backup.ts";
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import { workerPolicyOf } from "../../restore/objects/backup-place.ts";
import { restoreJobOf, tokenOf } from "../../restore/objects/seed.ts";
import type { RestoreJob } from "../../worker/job.ts";
import type { Beginning, PlannedBeginning } from "../objects/first-members.ts";
import type { SeedRestore } from "../objects/first-start.ts";
import { type MemberName, peerUrlOf } from "../objects/names.ts";
import { type PodTls, schemeOf } from "../objects/tls.ts";
import type { ClusterExecution } from "./execution.ts";
import { Refused } from "../../controllers/obstacle.ts";
import { defined } from "../../defined.ts";
import { highestRevisionIn } from "../assess/restoring.ts";

/** All but what the member and the operator of that moment add. Older operators begin with one member, and name none. */
export type SeedPlan = Omit<SeedRestore, "image"> & Partial<PlannedBeginning>;

/** A volume of backups is mounted by members that may be on different nodes, and many can be mounted on one alone. */
export function mostTogether({ mounts }: SeedPlan, size: number): number {
  return mounts.some((mount) => "claim" in mount) ? 1 : Math.max(1, size);
}

export async function seedPlanOf(execution: ClusterExecution, restore: CompleteEtcdRestore): Promise<SeedPlan> {
  const { assessment, cluster } = execution;
  const from = restore.spec.backup?.name;
  const backup = from === undefined ? undefined : await backupNamed(execution, from);
  const nobody = { name: "", peerUrl: "" };
  const highest = highestRevisionIn(assessment.world);
  const { job, mounts } = restoreJobOf(restore, backup, nobody, cluster.spec.version, highest);
  const { serviceAccountName, imagePullSecrets, resources, scratchSize } = workerPolicyOf(restore, backup);
  return {
    job,
    mounts,
    policy: defined({ serviceAccountName, imagePullSecrets, resources, scratchSize }),
  };
}

export function seedRestoreOf(
  execution: ClusterExecution,
  plan: SeedPlan,
  member: MemberName,
  tls: PodTls,
): SeedRestore {
  const { cluster, context } = execution;
  const image = context.workerImage();
  if (image === undefined)
    throw new Refused(
      "the operator does not know its own image: start it with -worker-image, so that data can be restored.",
    );
  const { beginning, mounts, policy } = plan;
  const listed = beginning?.members.find(({ name }) => name === member);
  const peerUrl = listed?.peerUrl ?? peerUrlOf(cluster, member, schemeOf(tls.peer === "tls"));
  const job = {
    ...plan.job,
    member: { name: member, peerUrl },
    ...(beginning !== undefined && togetherIn(plan.job, beginning)),
    targetVersion: cluster.spec.version,
  };
  return { image, job, mounts, policy };
}

/** The same for all of them, or they would not be members of one cluster; another one for each attempt. */
function togetherIn(
  { token }: RestoreJob,
  { attempt, members }: Beginning,
): Pick<RestoreJob, "token" | "initialCluster"> {
  return {
    token: attempt === 0 ? token : tokenOf(token, attempt),
    initialCluster: members.map(({ name, peerUrl }) => ({ name, peerUrl })),
  };
}

export const formatPlan = (plan: SeedPlan): string => JSON.stringify(plan);

/** Undefined: there is none, as where an older operator began, or somebody has changed it. */
export function parsePlan(text: string | undefined): SeedPlan | undefined {
  try {
    const found: unknown = JSON.parse(text ?? "");
    return isPlan(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

function isPlan(found: unknown): found is SeedPlan {
  if (typeof found !== "object" || found === null || !("job" in found) || !("mounts" in found)) return false;
  const { job, mounts } = found;
  const isJob = typeof job === "object" && job !== null && "do" in job && job.do === "restore" && "sha256" in job;
  return isJob && Array.isArray(mounts) && "policy" in found && typeof found.policy === "object";
}

async function backupNamed({ cluster, reconcile }: ClusterExecution, name: string) {
  const { namespace } = cluster.metadata;
  const found = await getOrUndefined(reconcile.api, EtcdBackup, { namespace, name });
  if (found === undefined)
    throw new Refused(
      `the EtcdBackup ${name} that the EtcdRestore names is gone: create it again, or apply an EtcdRestore that says where the backup is.`,
    );
  return completeBackup(found);
}
