// What the operator asks of Kubernetes, and nothing else: a row a rule, with the reason. The manifests, the chart and the
// table in docs/install.md are made from it; example/rbac grants the same.
import { kinds } from "../src/api/kinds.ts";

/** A rule of a Role or ClusterRole. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface Permission {
  readonly rule: Rule;
  readonly why: string;
}

const ours = ["etcd.database.coreos.com"];
const permission = (apiGroups: readonly string[], resources: string, verbs: string, why: string): Permission => ({
  rule: { apiGroups, resources: resources.split(" "), verbs: verbs.split(" ") },
  why,
});

/** In every namespace whose clusters it manages. */
export const onClusters: readonly Permission[] = [
  permission(
    ours,
    "etcdclusters",
    "get list watch create patch",
    "Read the desired state. An EtcdRestore annotates a cluster, or creates a new one.",
  ),
  permission(
    ours,
    "etcdbackups",
    "get list watch patch",
    "Read the desired state, and add a finalizer to an EtcdBackup whose backups are deleted with it.",
  ),
  permission(
    ours,
    "etcdrestores",
    "get list watch patch",
    "Read the desired state, and mark an EtcdRestore as begun, so that a backup tool that recreates it does not repeat it.",
  ),
  permission(ours, "etcdclusters/status etcdbackups/status etcdrestores/status", "patch", "Report the observed state."),
  permission(
    ours,
    "etcdclusters/finalizers etcdbackups/finalizers etcdrestores/finalizers",
    "update",
    "Own pods where the admission plugin OwnerReferencesPermissionEnforcement is enabled.",
  ),
  permission(
    [""],
    "pods",
    "get list watch create update patch delete",
    "Run members, and workers for backups and restores.",
  ),
  permission([""], "pods/resize", "update", "Change the resources of running members."),
  permission(
    [""],
    "pods/log",
    "get",
    "See which version an image contains, and whether an etcd that exited found no data.",
  ),
  permission([""], "pods/status", "patch", "Tell kubelets, which have no client certificate, that a member serves."),
  permission(
    [""],
    "secrets",
    "get list watch create update",
    "Needed for clusters with spec.TLS or spec.auth. The operator reads the Secrets that it created and those that clusters name.",
  ),
  permission([""], "persistentvolumeclaims", "get list watch create patch delete", "Manage the volumes of members."),
  permission([""], "services", "get list watch create patch", "Let members and clients reach a cluster."),
  permission(
    ["policy"],
    "poddisruptionbudgets",
    "get list watch create patch",
    "Keep a quorum when nodes are drained.",
  ),
  permission(["events.k8s.io"], "events", "create patch", "Report what the operator does."),
];

/** In the whole Kubernetes cluster. An operator of one namespace does without. */
export const onKubernetes: readonly Permission[] = [
  permission([""], "nodes", "list watch", "Detect a lost node, and replace its member."),
  permission(
    [""],
    "persistentvolumes",
    "get",
    "See whether a member's volume can be used on another node when its own node is gone.",
  ),
  permission(
    ["coordination.k8s.io"],
    "leases",
    "get",
    "See whether a namespace has an operator of its own, before managing an object there that no operator manages.",
  ),
];

/** In the operator's own namespace. The Lease is named after the operator's scope, so the rule names none. */
export const atHome: readonly Permission[] = [
  permission(["coordination.k8s.io"], "leases", "get watch create update", "Elect a leader among replicas."),
  permission([""], "pods", "get", "Read the image of its own pod, which the workers use."),
];

/** What people get who have the role view, or the role edit or admin, of a namespace. */
export const ofPeople: Readonly<Record<"view" | "edit", readonly Rule[]>> = {
  view: [{ apiGroups: ours, resources: kinds.map(({ kind }) => kind.plural), verbs: ["get", "list", "watch"] }],
  edit: [
    {
      apiGroups: ours,
      resources: kinds.map(({ kind }) => kind.plural),
      verbs: ["create", "delete", "deletecollection", "patch", "update"],
    },
    { apiGroups: ours, resources: ["etcdclusters/scale"], verbs: ["get", "patch", "update"] },
  ],
};

export const rulesOf = (permissions: readonly Permission[]): Rule[] => permissions.map(({ rule }) => rule);
