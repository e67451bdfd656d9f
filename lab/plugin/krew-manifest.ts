// The manifest by which krew installs the plugin, and what it says of itself there.
import { UsageError } from "../config.ts";
import type { Architecture } from "./node-package.ts";

/** What only the person who publishes a release knows. */
export interface Release {
  /** Where archives are fetched from: a URI with {file}, and {version} where it is wanted. */
  readonly uri: string;
  readonly homepage?: string;
}

export interface KrewArchive {
  readonly architecture: Architecture;
  readonly file: string;
  readonly sha256: string;
}

/** The names of all that an archive holds. */
export const archived = { program: "kubectl-etcd", license: "LICENSE", nodeLicense: "LICENSE.node" } as const;

export const krewArchiveName = (architecture: Architecture): string => `kubectl-etcd_linux_${architecture}.tar.gz`;

export function krewManifest(version: string, release: Release, archives: readonly KrewArchive[]): object {
  if (!release.uri.includes("{file}"))
    throw new UsageError(`The URI "${release.uri}" has to have {file} where the name of an archive belongs.`);
  return {
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: "etcd" },
    spec: {
      version: `v${version}`,
      ...(release.homepage === undefined ? {} : { homepage: release.homepage }),
      shortDescription: "Show and manage the etcd clusters of etcd-operator",
      description:
        "Shows etcd clusters at a glance, says what is wrong and how to fix it,\nplans upgrades, and backs up, restores, defragments and replaces members.\nIt uses your own kubeconfig and permissions; nothing is installed in the cluster.\n",
      caveats: "To have your shell complete its words:\n  kubectl etcd completion --install=FOLDER-IN-YOUR-PATH\n",
      platforms: archives.map(({ architecture, file, sha256 }) => ({
        selector: { matchLabels: { os: "linux", arch: architecture } },
        uri: release.uri.replaceAll("{version}", version).replaceAll("{file}", file),
        sha256,
        bin: archived.program,
        files: Object.values(archived).map((name) => ({ from: name, to: "." })),
      })),
    },
  };
}
