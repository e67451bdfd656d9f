// The manifest by which krew installs the plugin, and what it says of itself there.
import { oldestNode } from "../../src/plugin/node-version.ts";
import { UsageError } from "../config.ts";
import type { Architecture } from "./node-package.ts";

/** What only the person who publishes a release knows. */
export interface Release {
  /** Where archives are fetched from: a URI with {file}, and {version} where it is wanted. */
  readonly uri: string;
  readonly homepage?: string;
}

export type System = "linux" | "darwin";

export interface KrewArchive {
  readonly system: System;
  /** An archive without a Node serves more than one. */
  readonly architectures: readonly Architecture[];
  readonly file: string;
  readonly sha256: string;
}

/** The names of all that an archive may hold. */
export const archived = {
  program: "kubectl-etcd",
  plugin: "kubectl-etcd.cjs",
  license: "LICENSE",
  nodeLicense: "LICENSE.node",
} as const;

/** For Linux an executable with the pinned Node in it; for macOS the plugin, and a script that runs it with the user's Node. */
export const inArchive: Readonly<Record<System, readonly string[]>> = {
  linux: [archived.program, archived.license, archived.nodeLicense],
  darwin: [archived.program, archived.plugin, archived.license],
};

export const krewArchiveName = (system: System, architecture: Architecture | "all"): string =>
  `kubectl-etcd_${system}_${architecture}.tar.gz`;

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
      caveats: `On macOS it runs with your Node.js, ${oldestNode} or newer (brew install node).
To have your shell complete its words:
  kubectl etcd completion --install=FOLDER-IN-YOUR-PATH
`,
      platforms: archives.flatMap(({ system, architectures, file, sha256 }) =>
        architectures.map((architecture) => ({
          selector: { matchLabels: { os: system, arch: architecture } },
          uri: release.uri.replaceAll("{version}", version).replaceAll("{file}", file),
          sha256,
          bin: archived.program,
          files: inArchive[system].map((name) => ({ from: name, to: "." })),
        })),
      ),
    },
  };
}
