// The pods of a run, by what they do.
import { type CompleteEtcdBackup, EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { generationAnnotation } from "../../controllers/worker.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import { workerPod, type WorkerTask } from "../../worker/pod.ts";
import { backupTask, deleteTask, type Origin } from "./jobs.ts";
import { type AttemptName, workerName } from "./names.ts";
import { verification } from "./verify-pod.ts";

type RunAttempt = AttemptName & { readonly startedAt: string; readonly path?: string };

interface Making {
  readonly backup: CompleteEtcdBackup;
  readonly origin: Origin;
  readonly image: string;
}

/** Undefined while etcd cannot be reached, or when what is to be verified is in another place than the spec names by now. */
export function podOf({ backup, origin, image }: Making, run: RunAttempt): Pod | undefined {
  if (run.step === "Delete") return podFor(backup, run, image, deleteTask(backup));
  if (run.step === "Backup")
    return origin.t === "reached" ? podFor(backup, run, image, backupTask(backup, run, origin)) : undefined;
  const found = verification(backup, run, origin, image);
  return found && { ...podFor(backup, run, image, found.task), spec: found.spec };
}

function podFor(backup: CompleteEtcdBackup, run: RunAttempt, image: string, task: WorkerTask): Pod {
  const { namespace, name, generation = 0 } = backup.metadata;
  const pod = workerPod({
    namespace,
    podName: workerName(name, run),
    owner: ownerReference<EtcdBackup>(EtcdBackup, backup),
    labels: { etcd_backup: name },
    policy: backup.spec.worker,
    image,
    ...task,
  });
  const annotations = { ...pod.metadata?.annotations, [generationAnnotation]: String(generation) };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}
