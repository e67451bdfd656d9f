// The pods that work for an EtcdRestore: their names, which say the step and the attempt, so that an operator which has died
// after it made one finds it again; and the pod itself.
import { type CompleteEtcdRestore, EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import type { WorkerPolicy } from "../../api/backups/worker-policy.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import type { Job } from "../../worker/job.ts";
import type { Mount } from "../../worker/mounts.ts";
import { workerPod } from "../../worker/pod.ts";

/** Undefined while no worker is at it. */
export function workerName({ metadata: { name, uid = "" }, status }: CompleteEtcdRestore): string | undefined {
  const { phase, attempt } = status;
  if (phase !== "Checking" && phase !== "Saving") return undefined;
  const step = phase === "Checking" ? "check" : "save";
  // Short enough to be the name of a host as well.
  const stem = name.slice(0, 40).replace(/[-.]+$/, "");
  return `${stem}-${step}-${attempt}-${shortUid(uid)}`;
}

export const shortUid = (uid: string): string => uid.slice(0, 8);

export interface Work {
  readonly podName: string;
  readonly image: string;
  readonly job: Job;
  readonly mounts: readonly Mount[];
  readonly policy: WorkerPolicy;
}

export function restoreWorker(restore: CompleteEtcdRestore, work: Work): Pod {
  const { name, namespace } = restore.metadata;
  return workerPod({
    ...work,
    namespace,
    owner: ownerReference(EtcdRestore, restore),
    labels: { etcd_restore: name },
  });
}
