// The pods that work for an EtcdRestore: their names, which say the step and the attempt, so that an operator which has died
// after it made one finds it again; and the pod itself.
import { type CompleteEtcdRestore, EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import type { WorkerPolicy } from "../../api/backups/worker-policy.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import { workerPod, type WorkerTask } from "../../worker/pod.ts";

/** Undefined while no worker is at it. */
export function workerName({ metadata: { name, uid = "" }, status }: CompleteEtcdRestore): string | undefined {
  const { phase, attempt } = status;
  if (phase !== "Checking" && phase !== "Saving") return undefined;
  return nameOf({ name, uid }, phase === "Checking" ? "check" : "save", attempt);
}

/** The first that saves: it may run while the backup is being checked. */
export const firstSaveName = ({ metadata: { name, uid = "" } }: CompleteEtcdRestore): string =>
  nameOf({ name, uid }, "save", 1);

function nameOf({ name, uid }: { name: string; uid: string }, step: "check" | "save", attempt: number): string {
  // Short enough to be the name of a host as well.
  const stem = name.slice(0, 40).replace(/[-.]+$/, "");
  return `${stem}-${step}-${attempt}-${shortUid(uid)}`;
}

export const shortUid = (uid: string): string => uid.slice(0, 8);

interface Made {
  readonly podName: string;
  readonly image: string;
  readonly task: WorkerTask;
  readonly policy: WorkerPolicy;
}

export function restoreWorker(restore: CompleteEtcdRestore, { podName, image, task, policy }: Made): Pod {
  const { name, namespace } = restore.metadata;
  return workerPod({
    ...task,
    podName,
    image,
    policy,
    namespace,
    owner: ownerReference(EtcdRestore, restore),
    labels: { etcd_restore: name },
  });
}
