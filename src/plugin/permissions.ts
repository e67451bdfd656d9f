// The permissions that commands share: what they read of Kubernetes.
import type { Permission } from "./command.ts";

const etcd = "etcd.database.coreos.com";

export const readClusters: Permission = { group: etcd, resource: "etcdclusters", verbs: ["get", "list"] };
export const editClusters: Permission = { group: etcd, resource: "etcdclusters", verbs: ["patch"] };
export const readPods: Permission = { group: "", resource: "pods", verbs: ["list"] };

const reading = (group: string, resource: string, without: string): Permission => ({
  group,
  resource,
  verbs: ["list"],
  without,
});

/** What a command reads of one cluster. Only the cluster itself is needed. */
export const readAll: readonly Permission[] = [
  readClusters,
  { ...readPods, without: "Without it, members are shown as the status reports them." },
  {
    group: "",
    resource: "pods/proxy",
    verbs: ["get"],
    without: "Without it, size and lag are not shown.",
  },
  { ...reading("", "nodes", "Without it, no zones."), scope: "cluster" },
  reading("", "persistentvolumeclaims", "Without it, no volumes."),
  reading("events.k8s.io", "events", "Without it, no events."),
  reading(etcd, "etcdbackups", "Without it, no backups."),
  reading(etcd, "etcdrestores", "Without it, no restores."),
  {
    ...reading("coordination.k8s.io", "leases", "Without it, the command cannot check that an operator runs."),
    scope: "cluster",
  },
];

export const watchAll: readonly Permission[] = readAll.map(
  (permission): Permission =>
    permission.resource.includes("/") || permission.scope === "cluster"
      ? permission
      : { ...permission, verbs: [...permission.verbs, "watch"] },
);

export const execInPods: Permission = { group: "", resource: "pods/exec", verbs: ["create"] };
