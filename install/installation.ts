// All that is installed, in the order in which it is applied: CRDs, identity, permissions, the Deployment. It is the one
// source of install.yaml, install-namespace.yaml and the kustomize bases, and what the chart is compared with.
import { crds } from "../src/api/crd/crd.ts";
import { crdToApply } from "../src/api/generate/files.ts";
import { version } from "../src/version.ts";
import { deployment } from "./deployment.ts";
import type { Manifest } from "./manifest.ts";
import { atHome, ofPeople, onClusters, onKubernetes, type Rule, rulesOf } from "./permissions.ts";

/**
 * Which clusters the operator manages: the annotated ones of all namespaces, or those of its own. Without a namespace the
 * manifests go to the one that kubectl uses.
 */
export type Installation = (
  | { readonly scope: "clusterwide"; readonly namespace: string }
  | { readonly scope: "namespace"; readonly namespace?: string }
) & {
  /** A reference to the operator's image; a release names it by its digest. */
  readonly image?: string;
};

const operatorName = "etcd-operator";
export const home = "etcd-operator";

/** They select the operator's pods, so they never change. */
const selectorLabels = {
  "app.kubernetes.io/name": "etcd-operator",
  "app.kubernetes.io/instance": "etcd-operator",
} as const;

/** `name` is the label of example/deployment.yaml, which monitoring and people select the operator's pods by. */
const labels = { ...selectorLabels, "app.kubernetes.io/version": version, name: "etcd-operator" } as const;

export const crdManifests: readonly Manifest[] = crds.map(crdToApply);

/** Everything but the CRDs and the namespace. */
export function operatorOf(installation: Installation): Manifest[] {
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: at(installation) },
    ...(installation.scope === "clusterwide"
      ? clusterwidePermissions(installation.namespace)
      : namespacedPermissions(installation)),
    ...roleAndBinding(installation, `${operatorName}-lease`, rulesOf(atHome)),
    deployment(installation.scope, at(installation), selectorLabels, installation.image),
  ];
}

export function installationOf(installation: Installation): Manifest[] {
  return [...crdManifests, ...operatorOf(installation)];
}

/** The namespace of install.yaml. The operator's pod passes the restricted profile of Pod Security. */
export const namespace: Manifest = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: home, labels: { ...labels, "pod-security.kubernetes.io/enforce": "restricted" } },
};

const at = ({ namespace }: Installation, name: string = operatorName): Manifest["metadata"] => ({
  name,
  ...(namespace !== undefined && { namespace }),
  labels,
});

const rbac = "rbac.authorization.k8s.io";

function clusterwidePermissions(namespace: string): Manifest[] {
  const subjects = [{ kind: "ServiceAccount", name: operatorName, namespace }];
  return [
    clusterRole(operatorName, [...rulesOf(onClusters), ...rulesOf(onKubernetes)]),
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: operatorName, labels },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: operatorName },
      subjects,
    },
    clusterRole(`${operatorName}-view`, ofPeople.view, ["view", "edit", "admin"]),
    clusterRole(`${operatorName}-edit`, ofPeople.edit, ["edit", "admin"]),
  ];
}

/** Kubernetes adds the rules to the roles that they are aggregated to. */
function clusterRole(name: string, rules: readonly Rule[], aggregatedTo: readonly string[] = []): Manifest {
  const marks = aggregatedTo.map((role) => [`${rbac}/aggregate-to-${role}`, "true"] as const);
  return {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: { name, labels: { ...labels, ...Object.fromEntries(marks) } },
    rules,
  };
}

const namespacedPermissions = (installation: Installation): Manifest[] =>
  roleAndBinding(installation, operatorName, rulesOf(onClusters));

/** A subject without a namespace is a ServiceAccount of the binding's own. */
function roleAndBinding(installation: Installation, name: string, rules: readonly Rule[]): Manifest[] {
  const { namespace } = installation;
  const subject = { kind: "ServiceAccount", name: operatorName, ...(namespace !== undefined && { namespace }) };
  return [
    { apiVersion: `${rbac}/v1`, kind: "Role", metadata: at(installation, name), rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata: at(installation, name),
      roleRef: { apiGroup: rbac, kind: "Role", name },
      subjects: [subject],
    },
  ];
}
