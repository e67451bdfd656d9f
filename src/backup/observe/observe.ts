// Reads everything that a reconcile decides from, once, from the caches. It makes no list calls and changes nothing.
import { type CompleteEtcdBackup, withDefaults } from "../../api/etcd-backup/etcd-backup.ts";
import { problemsOf } from "../../api/etcd-backup/problems.ts";
import { withDefaults as clusterWithDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import type { ReconcileContext } from "../../kube/controller/run-reconcile.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import type { Key } from "../../kube/objects/objects.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { sourceOf } from "../../worker/source.ts";
import type { BackupCaches, BackupContext } from "../context.ts";
import { namedSource, type Origin } from "../objects/jobs.ts";
import type { BackupWorld } from "./world.ts";
import { observedWorker } from "../../controllers/worker.ts";
import type { Observed } from "../../controllers/stages.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { ApiError } from "../../kube/client/errors.ts";

export async function observe(
  key: Key,
  { api, signal }: Pick<ReconcileContext, "api" | "signal">,
  context: BackupContext,
): Promise<Observed<BackupWorld>> {
  const caches = context.caches(key.namespace);
  const stored = caches.backups.get(key);
  if (stored === undefined || !context.isOurs(stored)) return { t: "notOurs" };
  if (caches.pods === undefined) return { t: "unseen" };
  const backup = withDefaults(stored);
  const origin = originOf(backup, caches);
  if (origin === undefined) return { t: "unseen" };
  const cached = caches.pods.ownedBy(backup.metadata.uid ?? "");
  const expected = backup.status.run?.pod;
  // A cache that is a little behind, or a pod that has lost its labels, must not pass for a pod that is gone.
  const missing = expected !== undefined && !cached.some(({ metadata }) => metadata?.name === expected);
  const found = missing ? await getOrUndefined(api, Pod, { ...key, name: expected }, { signal }) : undefined;
  const pods = [...cached, ...(found === undefined ? [] : [found])].filter((pod) => isControlledBy(pod, backup));
  return {
    t: "world",
    world: {
      backup,
      problems: problemsOf(stored),
      workers: pods.map(observedWorker).toSorted((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1)),
      origin,
      workerImage: context.workerImage(),
      namespace: awaitsDeletion(backup) ? await namespaceState(api, key.namespace, signal) : "active",
    },
  };
}

const awaitsDeletion = ({ metadata, spec }: CompleteEtcdBackup): boolean =>
  metadata.deletionTimestamp !== undefined && spec.deletionPolicy === "Delete";

/** Undefined while it cannot be told. */
function originOf(backup: CompleteEtcdBackup, { clusters }: BackupCaches): Origin | undefined {
  const { name } = backup.spec.clusterRef ?? {};
  if (name === undefined) return { t: "reached", reached: namedSource(backup) };
  if (clusters === undefined) return undefined;
  const { namespace } = backup.metadata;
  const stored = clusters.get({ namespace, name });
  if (stored === undefined)
    return {
      t: "missing",
      because: `There is no EtcdCluster ${name} in the namespace ${namespace}: correct spec.clusterRef.name, or create it. The backup begins once it serves.`,
    };
  const cluster = clusterWithDefaults(stored);
  const { restore } = cluster.status;
  // A run that began now could replace, or prune, the very backup that its members are made from.
  if (restore?.phase === "Stopping" || restore?.phase === "Seeding")
    return {
      t: "notServing",
      because: `The data of the EtcdCluster ${name} is being replaced by the EtcdRestore ${restore.name}. The backup begins when that is over.`,
    };
  const reached = sourceOf(cluster);
  if (reached !== undefined) return { t: "reached", reached, cluster };
  return {
    t: "notServing",
    because: `No member of the EtcdCluster ${name} has served yet. The backup begins once one does; \`kubectl describe etcdcluster ${name}\` says what it waits for.`,
  };
}

/**
 * Whether a namespace is being deleted. It is asked by a dry run of what would be refused then, creating a pod, because that
 * needs no permission to read Namespaces, which an operator of one namespace does not have.
 */
async function namespaceState(api: KubeApi, namespace: string, signal: AbortSignal): Promise<"active" | "terminating"> {
  try {
    await api.create(Pod, probe(namespace), { dryRun: true, signal });
    return "active";
  } catch (error) {
    // Refused for any other reason, the namespace still takes what it should.
    if (!(error instanceof ApiError)) throw error;
    return error.causes.some(({ reason }) => reason === "NamespaceTerminating") ? "terminating" : "active";
  }
}

const probe = (namespace: string): Pod => ({
  metadata: { namespace, name: "etcd-operator-dry-run" },
  spec: { containers: [{ name: "none", image: "none" }] },
});
