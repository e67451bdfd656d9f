// The ClusterServiceVersion, by which the Operator Lifecycle Manager installs the operator: the same Deployment, permissions and
// examples as the manifests and the chart, with the image by digest.
import { deployment } from "../../install/deployment.ts";
import { exampleObjects } from "../../install/chart/chart-files.ts";
import { atHome, onClusters, onKubernetes, rulesOf } from "../../install/permissions.ts";
import { kinds } from "../../src/api/kinds.ts";
import { referenceOf } from "../install/manifests.ts";
import type { Release } from "../part.ts";
import { type Project, project } from "../project.ts";

export const packageName = "etcd-operator";
export const csvName = (version: string): string => `${packageName}.v${version}`;

/** The oldest Kubernetes that the CRDs work on; the chart asks for the same. */
const minKubeVersion = "1.30.0";
const labels = { "app.kubernetes.io/name": packageName, name: packageName } as const;

const description = `Runs [etcd](https://etcd.io) clusters on Kubernetes. You write an \`EtcdCluster\`; the operator bootstraps the cluster,
scales it, replaces members that die, upgrades it, backs it up and restores it.

It serves the API of coreos etcd-operator 0.9 (\`etcd.database.coreos.com/v1beta2\`), so manifests written for it still work.

* Members join as learners and leave one at a time, only while a quorum remains.
* A member that lost its data never rejoins under its old identity.
* Nothing is deleted when quorum is lost: the status names the latest backup and the command that restores it.
* A backup counts when it was read back; on request each one is restored into a throwaway member.`;

export interface CsvSource {
  readonly release: Release;
  /** As base64. */
  readonly icon: string;
  /** The version that the last release had. */
  readonly replaces?: string | undefined;
  readonly of?: Project;
}

export function csv({ release, icon, replaces, of = project }: CsvSource): object {
  const image = referenceOf(release.image);
  return {
    apiVersion: "operators.coreos.com/v1alpha1",
    kind: "ClusterServiceVersion",
    metadata: {
      name: csvName(release.version),
      namespace: "placeholder",
      annotations: {
        "alm-examples": JSON.stringify(exampleObjects(), undefined, 2),
        capabilities: "Full Lifecycle",
        categories: "Database",
        containerImage: image,
        createdAt: new Date(release.time * 1000).toISOString(),
        description: "Creates, scales, heals, upgrades, backs up and restores etcd clusters",
        ...(of.repository !== undefined && { repository: of.repository }),
        support: of.provider,
      },
      labels: {
        "operatorframework.io/arch.amd64": "supported",
        "operatorframework.io/arch.arm64": "supported",
        "operatorframework.io/os.linux": "supported",
      },
    },
    spec: {
      displayName: "etcd operator",
      description,
      version: release.version,
      ...(replaces !== undefined && { replaces: csvName(replaces) }),
      minKubeVersion,
      maturity: "alpha",
      provider: { name: of.provider },
      ...(of.repository !== undefined && { links: [{ name: "Repository", url: of.repository }] }),
      keywords: ["etcd", "database", "key-value", "backup"],
      icon: [{ base64data: icon, mediatype: "image/svg+xml" }],
      // One operator for all namespaces, as in install.yaml. For one of a namespace there is install-namespace.yaml.
      installModes: ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"].map((type) => ({
        type,
        supported: type === "AllNamespaces",
      })),
      customresourcedefinitions: {
        owned: kinds.map(({ kind, description }) => ({
          name: `${kind.plural}.${kind.group}`,
          version: kind.version,
          kind: kind.kind,
          displayName: kind.kind,
          description,
        })),
      },
      install: { strategy: "deployment", spec: installed(image) },
      relatedImages: [{ name: packageName, image }],
    },
  };
}

function installed(image: string): object {
  const of = (permissions: Parameters<typeof rulesOf>[0]): object => ({
    serviceAccountName: packageName,
    rules: rulesOf(permissions),
  });
  const { spec } = deployment("clusterwide", { name: packageName, labels }, labels, image);
  return {
    permissions: [of(atHome)],
    clusterPermissions: [of([...onClusters, ...onKubernetes])],
    deployments: [{ name: packageName, label: labels, spec }],
  };
}
