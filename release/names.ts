// The names of the files of a release.

type FileKind =
  | "image"
  | "imageSizes"
  | "imagePayload"
  | "chart"
  | "install"
  | "installNamespace"
  | "crds"
  | "kustomize"
  | "airGap"
  | "imageList"
  | "sbom"
  | "licenses"
  | "provenance"
  | "key"
  | "sums";

export const names = (version: string): Record<FileKind, string> => ({
  /** An OCI image layout. */
  image: `etcd-operator-${version}.oci.tar`,
  imageSizes: `etcd-operator-${version}.image.json`,
  chart: `etcd-operator-${version}.tgz`,
  install: "install.yaml",
  installNamespace: "install-namespace.yaml",
  crds: "crds.yaml",
  kustomize: `etcd-operator-${version}-kustomize.tar.gz`,
  airGap: `etcd-operator-${version}-air-gap.tar`,
  imageList: `etcd-operator-${version}.images.txt`,
  sbom: `etcd-operator-${version}.spdx.json`,
  licenses: "LICENSES.txt",
  imagePayload: `etcd-operator-${version}.image.payload.json`,
  provenance: `etcd-operator-${version}.provenance.json`,
  key: "cosign.pub",
  sums: "SHA256SUMS",
});

/** Name of a file's signature. */
export const signatureOf = (file: string): string => `${file}.sig`;
