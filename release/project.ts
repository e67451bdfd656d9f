// Who publishes releases, and where: the one place that the owner of the repository fills in. SECURITY.md and MAINTAINERS.md, the
// OLM bundle, the manifest for krew and Artifact Hub's file are made from it. Nothing here is invented: what is not known is absent.

export interface Maintainer {
  readonly name: string;
  /** On GitHub, without the @. */
  readonly handle: string;
}

export interface Project {
  readonly name: string;
  /** As OLM and Artifact Hub show it. */
  readonly provider: string;
  /** The repository's page, as in https://github.com/OWNER/etcd-operator; releases are below it. */
  readonly repository?: string;
  readonly maintainers: readonly Maintainer[];
  /** The id that Artifact Hub gives a repository, which proves that its owner controls this tree. */
  readonly artifactHubId?: string;
}

export const project: Project = {
  name: "etcd-operator",
  provider: "The etcd operator authors",
  maintainers: [],
};

/** Where a release's files are fetched from; reserved names never resolve (RFC 2606). */
export const downloads = (version: string, of: Project = project): string =>
  of.repository === undefined
    ? `https://etcd-operator.invalid/releases/download/v${version}`
    : `${of.repository}/releases/download/v${version}`;
