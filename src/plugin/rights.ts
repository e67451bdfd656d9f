// The rights that commands share: what they read of Kubernetes.
import type { Right } from "./command.ts";

const etcd = "etcd.database.coreos.com";

export const readClusters: Right = { group: etcd, resource: "etcdclusters", verbs: ["get", "list"] };
export const editClusters: Right = { group: etcd, resource: "etcdclusters", verbs: ["patch"] };
export const readPods: Right = { group: "", resource: "pods", verbs: ["list"] };

const reading = (group: string, resource: string, without: string): Right => ({
  group,
  resource,
  verbs: ["list"],
  without,
});

/** What a look at one cluster reads. Only the cluster itself is needed. */
export const readAll: readonly Right[] = [
  readClusters,
  { ...readPods, without: "Without it, members are shown as the status knows them." },
  {
    group: "",
    resource: "pods/proxy",
    verbs: ["get"],
    without: "Without it, there are no live figures: size, lag.",
  },
  { ...reading("", "nodes", "Without it, no zones."), scope: "cluster" },
  reading("", "persistentvolumeclaims", "Without it, no volumes."),
  reading("events.k8s.io", "events", "Without it, no events."),
  reading(etcd, "etcdbackups", "Without it, no backups."),
  reading(etcd, "etcdrestores", "Without it, no restores."),
  {
    ...reading("coordination.k8s.io", "leases", "Without it, it is not seen whether an operator runs."),
    scope: "cluster",
  },
];

/** What a look that follows changes reads. */
export const watchAll: readonly Right[] = readAll.map(
  (right): Right =>
    right.resource.includes("/") || right.scope === "cluster" ? right : { ...right, verbs: [...right.verbs, "watch"] },
);

export const execInPods: Right = { group: "", resource: "pods/exec", verbs: ["create"] };
