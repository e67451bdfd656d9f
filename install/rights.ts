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

export interface Right {
  readonly rule: Rule;
  readonly why: string;
}

const ours = ["etcd.database.coreos.com"];
const right = (apiGroups: readonly string[], resources: string, verbs: string, why: string): Right => ({
  rule: { apiGroups, resources: resources.split(" "), verbs: verbs.split(" ") },
  why,
});

/** In every namespace whose clusters it manages. */
export const onClusters: readonly Right[] = [
  right(
    ours,
    "etcdclusters",
    "get list watch create patch",
    "It reads what is wanted. An EtcdRestore annotates a cluster, or makes a new one.",
  ),
  right(
    ours,
    "etcdbackups",
    "get list watch patch",
    "It reads what is wanted, and puts a finalizer on one whose backups are to go with it.",
  ),
  right(
    ours,
    "etcdrestores",
    "get list watch patch",
    "It reads what is wanted, and notes on one that it has begun, so that it is known again when a tool brings it back.",
  ),
  right(ours, "etcdclusters/status etcdbackups/status etcdrestores/status", "patch", "It reports what is."),
  right(
    ours,
    "etcdclusters/finalizers etcdbackups/finalizers etcdrestores/finalizers",
    "update",
    "To own pods, where the admission plugin OwnerReferencesPermissionEnforcement is on.",
  ),
  right([""], "pods", "get list watch create update patch delete", "Members, and workers of backups and restores."),
  right([""], "pods/resize", "update", "Other resources for members that run."),
  right([""], "pods/log", "get", "To see which version an image has, and whether an etcd that ended found no data."),
  right([""], "pods/status", "patch", "To tell kubelets, which have no client certificate, that a member serves."),
  right(
    [""],
    "secrets",
    "get list watch create update",
    "For clusters with spec.TLS or spec.auth. It reads those that it made and those that clusters name.",
  ),
  right([""], "persistentvolumeclaims", "get list watch create patch delete", "Volumes of members."),
  right([""], "services", "get list watch create patch", "How members and clients reach a cluster."),
  right(["policy"], "poddisruptionbudgets", "get list watch create patch", "A drain leaves a quorum."),
  right(["events.k8s.io"], "events", "create patch", "To tell people what it does."),
];

/** In the whole Kubernetes cluster. An operator of one namespace does without. */
export const onKubernetes: readonly Right[] = [
  right([""], "nodes", "list watch", "To see a node that is lost, and replace its member."),
  right(
    [""],
    "persistentvolumes",
    "get",
    "To see whether the volume of a member can be used on another node, when its own is gone.",
  ),
  right(
    ["coordination.k8s.io"],
    "leases",
    "get",
    "To see whether a namespace has an operator of its own, before it takes an object there that nobody looks after.",
  ),
];

/** In the operator's own namespace. The Lease is named after the operator's scope, so the rule names none. */
export const atHome: readonly Right[] = [
  right(["coordination.k8s.io"], "leases", "get watch create update", "To elect a leader among replicas."),
  right([""], "pods", "get", "Its own pod says which image its workers run from."),
];

/** Not granted by the manifests, which bring the definitions: the operator that they start runs with -create-crd=false. */
export const toInstallDefinitions: readonly Rule[] = [
  { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: ["create"] },
  {
    apiGroups: ["apiextensions.k8s.io"],
    resources: ["customresourcedefinitions"],
    resourceNames: kinds.map(({ kind }) => `${kind.plural}.${kind.group}`),
    verbs: ["get", "patch"],
  },
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

export const rulesOf = (rights: readonly Right[]): Rule[] => rights.map(({ rule }) => rule);
