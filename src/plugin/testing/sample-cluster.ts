// A cluster of three that is well, as objects for the stage.
import type { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdBackup as EtcdBackupKind } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { Node, Pod } from "../../kube/objects/kinds.ts";
import type { Observed } from "../observe/observe.ts";
import { valueOr } from "../observe/observe.ts";
import { scenes } from "../view/testing/scenes.ts";
import { Stage } from "./stage.ts";

export const members = ["my-etcd-2b7kq9xw4c", "my-etcd-8vfm5hj2zd", "my-etcd-gp6tsn7rbk"] as const;
export const leader = members[1];

/** The scene in an API server. */
export async function staged(name = "healthy", change: (cluster: EtcdCluster) => EtcdCluster = (same) => same) {
  const stage = new Stage();
  const scene: Observed | undefined = scenes[name];
  if (scene === undefined) throw new RangeError(`there is no scene ${name}`);
  await stage.add(EtcdCluster, change(scene.cluster));
  await stage.add(Node, ...valueOr(scene.nodes, []));
  await stage.add(Pod, ...valueOr(scene.pods, []).map(asMember));
  await stage.add(EtcdBackupKind, ...valueOr<readonly EtcdBackup[]>(scene.backups, []));
  stage.metrics = (pod) =>
    [
      `etcd_server_is_leader ${pod === leader ? 1 : 0}`,
      "etcd_server_has_leader 1",
      "etcd_mvcc_db_total_size_in_bytes 41943040",
      "etcd_server_proposals_committed_total 10",
      "etcd_server_proposals_applied_total 10",
    ].join("\n");
  stage.kubectl = (args) =>
    args.includes("list") ? members.map((name, at) => `a${at}, started, ${name}, p, c, false`).join("\n") : "";
  return stage;
}

/** The same members, which speak TLS. */
export async function speakTls(stage: Stage): Promise<void> {
  for (const name of members) {
    const key = { namespace: "default", name };
    const pod = await stage.api.get(Pod, key);
    await stage.api.delete(Pod, key);
    const { resourceVersion: _, uid: __, ...metadata } = pod.metadata ?? {};
    const containers = (pod.spec?.containers ?? []).map((container) => ({
      ...container,
      command: container.command?.map((word) => word.replace("http:", "https:")) ?? [],
    }));
    await stage.add(Pod, { ...pod, metadata, spec: { ...pod.spec, containers } });
  }
}

function asMember(pod: Pod): Pod {
  const name = pod.metadata?.name ?? "";
  const host = `${name}.my-etcd.default.svc`;
  const command = ["/usr/local/bin/etcd", `--advertise-client-urls=http://${host}:2379`];
  const containers = (pod.spec?.containers ?? []).map((container) => ({ ...container, command }));
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { app: "etcd", etcd_cluster: "my-etcd" } },
    spec: { ...pod.spec, containers },
  };
}
