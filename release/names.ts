// The names of the files of a release.

export const names = (version: string) =>
  ({
    /** An OCI image layout. */
    image: `etcd-operator-${version}.oci.tar`,
    imageSizes: `etcd-operator-${version}.image.json`,
    chart: `etcd-operator-${version}.tgz`,
    install: "install.yaml",
    installNamespace: "install-namespace.yaml",
    crds: "crds.yaml",
    kustomize: `etcd-operator-${version}-kustomize.tar.gz`,
    airGap: `etcd-operator-${version}-air-gap.tar`,
    sbom: `etcd-operator-${version}.spdx.json`,
    licenses: "LICENSES.txt",
    imagePayload: `etcd-operator-${version}.image.payload.json`,
    provenance: `etcd-operator-${version}.provenance.json`,
    key: "cosign.pub",
    sums: "SHA256SUMS",
  }) as const;

/** Of a file. */
export const signatureOf = (file: string): string => `${file}.sig`;
