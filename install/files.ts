// The files in the tree that are made from install/, in whole or in part.
import type { GeneratedFile } from "../src/api/generate/files.ts";
import { chartFiles } from "./chart/chart-files.ts";
import { argocdConfigMap, healthScripts } from "./health/argocd.ts";
import { fluxSnippet } from "./health/flux.ts";
import { k9sPlugins, k9sViews } from "./health/k9s.ts";
import { image } from "./deployment.ts";
import { home, installationOf, namespace, operatorOf } from "./installation.ts";
import { fileOf, yamlOf } from "./manifest.ts";
import { withPermissionsTable } from "./permissions-table.ts";

const made = "Made by `node install/generate.ts`: change install/installation.ts, not this file.";

const noImage = `No image is published yet, and ${image.repository} never resolves: load an image into the nodes, or
set your own in the Deployment (docs/install.md#an-image-of-your-own).`;

const wholeKubernetes = `The operator for all namespaces, in the namespace ${home}: kubectl apply --server-side -f install/install.yaml
It manages the EtcdClusters of all namespaces that have no operator of their own.
${noImage}
${made}`;

const oneNamespace = `The operator for the namespace that kubectl uses: kubectl apply --server-side -f install/install-namespace.yaml
It manages the EtcdClusters of that namespace. The first three objects, the CRDs, are cluster-scoped.
${noImage}
${made}`;

const withoutCrds = `The operator for one namespace, without the CRDs.
${noImage}
${made}`;

const whole = (path: string, text: string): GeneratedFile => ({ path, render: () => text });

const kustomization = (comment: string, resource: string): string =>
  `${comment.replaceAll(/^/gm, "# ")}\n${yamlOf({ apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources: [resource] })}`;

export function generatedFiles(): GeneratedFile[] {
  return [
    whole(
      "install/install.yaml",
      fileOf(wholeKubernetes, [namespace, ...installationOf({ scope: "clusterwide", namespace: home })]),
    ),
    whole("install/install-namespace.yaml", fileOf(oneNamespace, installationOf({ scope: "namespace" }))),
    whole(
      "install/kustomization.yaml",
      kustomization("A base: the operator for all namespaces, with the CRDs.", "install.yaml"),
    ),
    whole("install/namespace/operator.yaml", fileOf(withoutCrds, operatorOf({ scope: "namespace" }))),
    whole(
      "install/namespace/kustomization.yaml",
      kustomization(
        "A base: the operator for one namespace, without the CRDs, which an administrator applies once.",
        "operator.yaml",
      ),
    ),
    { path: "docs/install.md", render: withPermissionsTable },
    ...chartFiles(),
    ...Object.entries(healthScripts).map(([kind, script]) => whole(`install/argocd/${kind}/health.lua`, script)),
    whole("install/argocd/argocd-cm.yaml", argocdConfigMap()),
    whole("install/flux/health-checks.yaml", fluxSnippet()),
    whole("install/k9s/plugins.yaml", k9sPlugins()),
    whole("install/k9s/views.yaml", k9sViews()),
  ];
}
