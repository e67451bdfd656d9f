// Stands for the controller of EtcdClusters: takes up what an EtcdRestore asks for, step by step, makes the seed's pod, and
// says that the cluster serves once the seed has its data.
import { EtcdBackup, withDefaults as completeBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster, withDefaults as completeCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { restoreRequestOf } from "../../api/etcd-cluster/restore-annotation.ts";
import { EtcdRestore, withDefaults } from "../../api/etcd-restore/etcd-restore.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import type { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import { lastResultOf, workerContainer, restoreContainer } from "../../worker/pod.ts";
import { restoreJobOf } from "../objects/seed.ts";
import { jobOf } from "./kubelet.ts";

/** One pass over all clusters. `seeded` is called for each time that the data of one is replaced. */
export async function runClusters(api: FakeApi, seeded: (uid: string) => void): Promise<void> {
  for (const cluster of (await api.list(EtcdCluster)).items) await runCluster(api, cluster, seeded);
}

async function runCluster(api: FakeApi, cluster: EtcdCluster, seeded: (uid: string) => void): Promise<void> {
  const asked = restoreRequestOf(cluster);
  const followed = cluster.status?.restore;
  const write = (status: object) => api.mergePatch(EtcdCluster, keyOf(cluster), { status }, { subresource: "status" });
  if (asked !== undefined && asked.uid !== followed?.uid) {
    if (cluster.spec.paused !== true)
      await write({
        restore: { name: asked.name, uid: asked.uid, phase: "Stopping" },
        clusterId: null,
        conditions: [{ type: "Ready", status: "False" }],
      });
    return;
  }
  if (followed === undefined || followed.phase === "Done") return;
  if (followed.phase === "Stopping") {
    seeded(followed.uid);
    await makeSeed(api, cluster, followed);
    await write({ restore: { phase: "Seeding" } });
    return;
  }
  const seed = await api.get(Pod, seedKey(cluster, followed));
  const last = lastResultOf(seed, restoreContainer);
  if (last?.result.ok !== true || last.result.did.do !== "restore" || !last.result.did.restored) return;
  const job = jobOf(seed);
  await write({
    restore: { phase: "Done" },
    clusterId: `made-by-${followed.uid.slice(0, 4)}`,
    ready: `${cluster.spec.size}/${cluster.spec.size}`,
    revision: last.result.did.backup.revision + (job?.do === "restore" ? job.bumpRevision : 0),
    conditions: [{ type: "Ready", status: "True", observedGeneration: cluster.metadata?.generation ?? 0 }],
  });
}

const seedKey = (cluster: EtcdCluster, { uid }: { uid: string }) => ({
  namespace: cluster.metadata?.namespace ?? "",
  name: `${cluster.metadata?.name}-seed-${uid.slice(0, 8)}`,
});

async function makeSeed(api: FakeApi, cluster: EtcdCluster, followed: { name: string; uid: string }): Promise<void> {
  const key = keyOf(cluster);
  const restore = withDefaults(await api.get(EtcdRestore, { ...key, name: followed.name }));
  const named = restore.spec.backup?.name;
  const backup = named === undefined ? undefined : completeBackup(await api.get(EtcdBackup, { ...key, name: named }));
  const { namespace, name } = seedKey(cluster, followed);
  const peerUrl = `http://${name}.${key.name}.${namespace}.svc:2380`;
  const { version } = completeCluster(cluster).spec;
  const { job, mounts } = restoreJobOf(restore, backup, { name, peerUrl }, version, 0);
  await api.create(Pod, {
    metadata: {
      namespace,
      name,
      labels: { app: "etcd", etcd_cluster: key.name },
      ownerReferences: [ownerReference(EtcdCluster, cluster)],
    },
    spec: {
      initContainers: [workerContainer({ image: "worker", job, mounts, name: restoreContainer })],
      containers: [{ name: "etcd", image: "etcd" }],
    },
  });
}
