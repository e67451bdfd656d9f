// The manifests of a release, which name the image by its digest, so that nobody can put another one in its place: for all
// namespaces, for one, the CRDs alone, and a folder for kustomize.
import { writeFile } from "node:fs/promises";
import * as path from "node:path";
import { crdManifests, home, installationOf, namespace, operatorOf } from "../../install/installation.ts";
import { fileOf, yamlOf } from "../../install/manifest.ts";
import type { Entry } from "../../lab/images/tar.ts";
import { writeTarGz } from "../archive.ts";
import { names } from "../names.ts";
import type { Part, Release, ReleasedImage } from "../part.ts";

/** As manifests name it. */
export const referenceOf = ({ repository, digest }: ReleasedImage): string => `${repository}@${digest}`;

/** Texts by name. */
export function manifestFiles({ version, image }: Release): Record<string, string> {
  const reference = referenceOf(image);
  const made = `etcd-operator ${version}`;
  const forAll = installationOf({ scope: "clusterwide", namespace: home, image: reference });
  return {
    [names(version).install]: fileOf(
      `${made} for all namespaces, in the namespace ${home}: kubectl apply --server-side -f install.yaml`,
      [namespace, ...forAll],
    ),
    [names(version).installNamespace]: fileOf(
      `${made} for the namespace that kubectl uses: kubectl apply --server-side -f install-namespace.yaml\nThe first three objects, the CRDs, are cluster-scoped.`,
      installationOf({ scope: "namespace", image: reference }),
    ),
    [names(version).crds]: fileOf(
      `The CRDs of ${made}, for those who install the operator without them: kubectl apply --server-side -f crds.yaml`,
      crdManifests,
    ),
  };
}

const kustomization = (comment: string, resource: string): string =>
  `# ${comment}\n${yamlOf({ apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources: [resource] })}`;

/** Texts by their paths in the folder. */
function kustomizeFiles(release: Release): Record<string, string> {
  const { version, image } = release;
  return {
    "kustomization.yaml": kustomization("A base: the operator for all namespaces, with the CRDs.", "install.yaml"),
    "install.yaml": manifestFiles(release)["install.yaml"] ?? "",
    "namespace/kustomization.yaml": kustomization(
      "A base: the operator for one namespace, without the CRDs, which an administrator applies once.",
      "operator.yaml",
    ),
    "namespace/operator.yaml": fileOf(
      `etcd-operator ${version} for one namespace, without the CRDs.`,
      operatorOf({ scope: "namespace", image: referenceOf(image) }),
    ),
  };
}

export const manifests: Part = {
  name: "manifests",
  async make(release) {
    const files = manifestFiles(release);
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(release.folder, name), text);
    const { kustomize } = names(release.version);
    const folder = `etcd-operator-${release.version}`;
    await writeTarGz(
      path.join(release.folder, kustomize),
      Object.entries(kustomizeFiles(release)).map(
        ([name, text]): Entry => ({ is: "text", path: `${folder}/${name}`, mode: 0o644, text }),
      ),
      release.time,
    );
    return [...Object.keys(files), kustomize];
  },
};
