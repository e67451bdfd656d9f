// A bill of materials in the format SPDX 2.3, the same bytes for the same release.
import type { Release } from "../part.ts";
import type { Component } from "./component.ts";

export function spdxOf({ version, time, image }: Release, components: readonly Component[]): object {
  const root = "SPDXRef-image";
  const hex = image.digest.replace("sha256:", "");
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `etcd-operator-${version}`,
    documentNamespace: `https://spdx.org/spdxdocs/etcd-operator-${version}-${hex}`,
    creationInfo: {
      created: new Date(time * 1000).toISOString().replace(".000", ""),
      creators: ["Tool: etcd-operator-release"],
    },
    packages: [
      {
        SPDXID: root,
        name: "etcd-operator",
        versionInfo: version,
        downloadLocation: "NOASSERTION",
        filesAnalyzed: false,
        primaryPackagePurpose: "CONTAINER",
        licenseConcluded: "NOASSERTION",
        licenseDeclared: "Apache-2.0",
        copyrightText: "NOASSERTION",
        checksums: [{ algorithm: "SHA256", checksumValue: hex }],
        externalRefs: [
          purl(
            `pkg:oci/etcd-operator@${encodeURIComponent(image.digest)}?repository_url=${encodeURIComponent(image.repository)}&tag=${version}`,
          ),
        ],
      },
      ...components.map(packageOf),
    ],
    relationships: [
      relationship("SPDXRef-DOCUMENT", "DESCRIBES", root),
      ...components.flatMap(({ id, within }) =>
        (within.length === 0 ? (inImage(id) ? [root] : []) : within.map(refOf)).map((whole) =>
          relationship(whole, "CONTAINS", refOf(id)),
        ),
      ),
      relationship("SPDXRef-DOCUMENT", "DESCRIBES", refOf("kubectl-etcd")),
    ],
  };
}

/** The plugin is a program of its own. */
const inImage = (id: string): boolean => id !== "kubectl-etcd";

const refOf = (id: string): string => `SPDXRef-${id}`;

const relationship = (spdxElementId: string, relationshipType: string, relatedSpdxElement: string): object => ({
  spdxElementId,
  relationshipType,
  relatedSpdxElement,
});

const purl = (referenceLocator: string): object => ({
  referenceCategory: "PACKAGE-MANAGER",
  referenceType: "purl",
  referenceLocator,
});

const packageOf = (component: Component): object => ({
  SPDXID: refOf(component.id),
  name: component.name,
  versionInfo: component.version,
  // The purl names the package; where it is fetched from is up to who builds.
  downloadLocation: "NOASSERTION",
  filesAnalyzed: false,
  licenseConcluded: "NOASSERTION",
  licenseDeclared: component.license ?? "NOASSERTION",
  copyrightText: "NOASSERTION",
  ...(component.checksum === undefined
    ? {}
    : { checksums: [{ algorithm: component.checksum.algorithm, checksumValue: component.checksum.value }] }),
  externalRefs: [purl(component.purl)],
});
