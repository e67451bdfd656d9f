// What is done when the data of a cluster is replaced by that of a backup. Every step is preceded by a live read: an old
// view must neither stop a cluster that was restored since, nor begin one beside members that are still there.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { restoreRequestOf } from "../../api/etcd-cluster/restore-annotation.ts";
import { EtcdBackup, withDefaults as completeBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { type CompleteEtcdRestore, EtcdRestore, withDefaults } from "../../api/etcd-restore/etcd-restore.ts";
import { isNotFound } from "../../kube/client/errors.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { workerPolicyOf } from "../../restore/place.ts";
import { restoreJobOf } from "../../restore/seed.ts";
import type { FirstStart } from "../objects/first-start.ts";
import { isImageCheck } from "../objects/image-check.ts";
import { selectorOf } from "../objects/labels.ts";
import { peerUrlOf } from "../objects/names.ts";
import { type PodTls, schemeOf } from "../objects/tls.ts";
import type { ActionOf } from "../plan/actions.ts";
import type { Execution } from "./execution.ts";
import { NotYet, Refused, whileCacheIsBehindMs } from "./outcome.ts";
import { writeStatus } from "./write-status.ts";

export async function beginRestore(execution: Execution, { name, uid }: ActionOf<"beginRestore">): Promise<void> {
  const live = await execution.pass.api.get(EtcdCluster, keyOf(execution.cluster));
  const isAsked = live.metadata?.uid === execution.cluster.metadata.uid && restoreRequestOf(live)?.uid === uid;
  if (!isAsked || live.status?.restore?.uid === uid)
    throw new NotYet("the EtcdCluster has changed since it was looked at", whileCacheIsBehindMs);
  await restoreNamed(execution, name, uid);
  await writeStatus(execution, { restore: { name, uid, phase: "Stopping" } });
}

/** What the old members were is forgotten in the same write: from here on the cluster has yet to begin. */
export async function beginSeed(execution: Execution, { name, uid }: ActionOf<"beginSeed">): Promise<void> {
  const { cluster, pass } = execution;
  const { namespace } = cluster.metadata;
  const pods = await pass.api.list(Pod, { namespace, labelSelector: selectorOf(cluster) });
  const left = pods.items.filter((pod) => isControlledBy(pod, cluster) && !isImageCheck(pod));
  if (left.length > 0) throw new NotYet("members of the old cluster are still there", whileCacheIsBehindMs);
  await writeStatus(execution, {
    restore: { name, uid, phase: "Seeding" },
    phase: "Creating",
    clusterId: null,
    raftLogVersion: null,
    voters: [],
    size: 0,
  });
}

/** How the first member comes to its data. */
export async function seedStart(execution: Execution, member: string, tls: PodTls): Promise<FirstStart> {
  const { cluster, context, pass } = execution;
  const { restore } = cluster.status;
  if (restore?.phase !== "Seeding") return { as: "seed" };
  const image = context.workerImage();
  if (image === undefined)
    throw new Refused(
      "the operator does not know its own image: start it with -worker-image, so that data can be restored.",
    );
  const found = await restoreNamed(execution, restore.name, restore.uid);
  const from = found.spec.backup?.name;
  const backup = from === undefined ? undefined : await backupNamed(execution, from);
  const peerUrl = peerUrlOf(cluster, member, schemeOf(tls.peer === "tls"));
  const { job, mounts } = restoreJobOf(found, backup, { name: member, peerUrl }, cluster.spec.version);
  pass.signal.throwIfAborted();
  return { as: "restored", restore: { image, job, mounts, policy: workerPolicyOf(found, backup) } };
}

async function restoreNamed({ cluster, pass }: Execution, name: string, uid: string): Promise<CompleteEtcdRestore> {
  const { namespace } = cluster.metadata;
  const found = await pass.api.get(EtcdRestore, { namespace, name }).catch(unlessNotFound);
  if (found?.metadata?.uid !== uid)
    throw new Refused(
      `the EtcdRestore ${name} that replaces the data is gone: apply another one under the name of this cluster.`,
    );
  return withDefaults(found);
}

async function backupNamed({ cluster, pass }: Execution, name: string) {
  const { namespace } = cluster.metadata;
  const found = await pass.api.get(EtcdBackup, { namespace, name }).catch(unlessNotFound);
  if (found === undefined)
    throw new Refused(
      `the EtcdBackup ${name} that the EtcdRestore names is gone: make it again, or apply an EtcdRestore that says where the backup is.`,
    );
  return completeBackup(found);
}

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
