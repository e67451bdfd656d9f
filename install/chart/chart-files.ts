// The files of the chart that are made from code: its metadata, values, permissions and CRDs. Its templates are written by
// hand, and a test compares what they give with the plain manifests.
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { parseAllDocuments } from "yaml";
import type { GeneratedFile } from "../../src/api/generate/files.ts";
import { kinds } from "../../src/api/kinds.ts";
import { version } from "../../src/version.ts";
import { image } from "../deployment.ts";
import type { Fields } from "./value.ts";
import { crdManifests } from "../installation.ts";
import { type Manifest, yamlOf } from "../manifest.ts";
import { atHome, ofPeople, onClusters, onKubernetes, rulesOf } from "../permissions.ts";
import { monitoringFiles } from "./monitoring-files.ts";
import { releasedValues, values } from "./values.ts";
import { valuesSchema, valuesTable, valuesYaml } from "./values-files.ts";

const root = path.resolve(import.meta.dirname, "../..");
const folder = "charts/etcd-operator";
const made = "# Made by `node install/generate.ts`; change install/, not this file.";

/** Shown beside each kind. */
const examples = [
  "example/example-etcd-cluster-3.6.yaml",
  "example/example-etcd-backup.yaml",
  "example/example-etcd-restore.yaml",
];

/** Those of our API: an example may bring a claim as well. */
function objectsIn(file: string): Manifest[] {
  const documents = parseAllDocuments(readFileSync(path.join(root, file), "utf8"));
  const group = kinds.map(({ kind }) => kind.group);
  return documents
    .map((document) => document.toJS() as Manifest)
    .filter(({ apiVersion }) => group.some((name) => apiVersion.startsWith(`${name}/`)));
}

/** One or more of each kind, as Artifact Hub and OperatorHub show them. */
export const exampleObjects = (): Manifest[] => examples.flatMap(objectsIn);

const annotations = (reference: string): Record<string, string> => ({
  "artifacthub.io/alternativeName": "etcd",
  "artifacthub.io/category": "database",
  "artifacthub.io/license": "Apache-2.0",
  "artifacthub.io/operator": "true",
  "artifacthub.io/operatorCapabilities": "Full Lifecycle",
  "artifacthub.io/images": yamlOf([{ name: "etcd-operator", image: reference }]),
  "artifacthub.io/crds": yamlOf(
    kinds.map(({ kind, description }) => ({
      kind: kind.kind,
      version: kind.version,
      name: `${kind.plural}.${kind.group}`,
      displayName: kind.kind,
      description,
    })),
  ),
  "artifacthub.io/crdsExamples": yamlOf(exampleObjects()),
});

function chartYaml(reference: string): string {
  const chart = {
    apiVersion: "v2",
    name: "etcd-operator",
    description: "An etcd operator for Kubernetes: EtcdCluster objects become etcd clusters that lose nothing.",
    type: "application",
    version,
    appVersion: version,
    // Rules of CRDs that read the former object (optionalOldSelf) are on by default since then.
    kubeVersion: ">=1.30.0-0",
    keywords: ["etcd", "operator", "database", "backup"],
    annotations: annotations(reference),
  };
  return `${made}\n${yamlOf(chart)}`;
}

const permissionsYaml = (): string =>
  `${made}\n${yamlOf({
    onClusters: rulesOf(onClusters),
    onKubernetes: rulesOf(onKubernetes),
    atHome: rulesOf(atHome),
    ...ofPeople,
  })}`;

const readme = (values: Fields): string => `# etcd-operator

<!-- Made by \`node install/generate.ts\`. Change install/chart, not this file. -->

The Helm chart of the etcd operator. With default values it creates the same objects as \`install/install.yaml\`.

\`\`\`sh
helm install etcd-operator charts/etcd-operator --namespace etcd-operator --create-namespace --take-ownership --wait
\`\`\`

\`--take-ownership\` is needed if the CRDs are installed already.

[docs/install.md](../../docs/install.md) says more: one namespace or all, other registries, upgrade, removal. The CRDs remain
when the release is uninstalled, and so do the clusters.

## Values

Helm rejects values that are not in this table.

${valuesTable(values)}
`;

export function chartFiles(): GeneratedFile[] {
  const files = filesOf(`${image.repository}:${image.tag}`, values);
  return Object.entries(files).map(([name, text]) => ({ path: `${folder}/${name}`, render: () => text }));
}

/** The same files for a release, by their names in the chart, with its image as the default. */
export const releasedChartFiles = (released: { repository: string; digest: string }): Record<string, string> =>
  filesOf(`${released.repository}@${released.digest}`, releasedValues(released));

function filesOf(reference: string, values: Fields): Record<string, string> {
  return {
    "Chart.yaml": chartYaml(reference),
    "README.md": readme(values),
    "values.yaml": valuesYaml(values),
    "values.schema.json": valuesSchema(values),
    "files/permissions.yaml": permissionsYaml(),
    ...Object.fromEntries(
      crdManifests.map((crd) => [`files/crds/${crd.metadata.name}.yaml`, `${made}\n${yamlOf(crd)}`]),
    ),
    ...Object.fromEntries(Object.entries(monitoringFiles()).map(([name, text]) => [`files/${name}`, text])),
  };
}
