// The bundle by which a catalog of the Operator Lifecycle Manager offers the operator: a folder with the
// ClusterServiceVersion, the CRDs and what the catalog has to know, and the Dockerfile that makes it an image. A release has it as
// one archive.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { crdManifests } from "../../install/installation.ts";
import { yamlOf } from "../../install/manifest.ts";
import type { Entry } from "../../lab/images/tar.ts";
import { writeTar } from "../archive.ts";
import { lastRelease } from "../last-release.ts";
import type { Part, Release } from "../part.ts";
import { csv, csvName, packageName } from "./csv.ts";

const icon = path.resolve(import.meta.dirname, "../../docs/images/icon.svg");

/** Until there is a 1.0, all releases are in one channel. */
const channel = "stable-v0";

/** In the annotations of the folder and in the labels of the image, which OLM compares. */
const annotations = {
  "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
  "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
  "operators.operatorframework.io.bundle.metadata.v1": "metadata/",
  "operators.operatorframework.io.bundle.package.v1": packageName,
  "operators.operatorframework.io.bundle.channels.v1": channel,
  "operators.operatorframework.io.bundle.channel.default.v1": channel,
} as const;

/** Paths in the bundle, and what is in the files. */
export async function bundleFiles(release: Release): Promise<Readonly<Record<string, string>>> {
  const base64 = (await readFile(icon)).toString("base64");
  return {
    [`manifests/${packageName}.clusterserviceversion.yaml`]: yamlOf(
      csv({ release, icon: base64, replaces: lastRelease.version }),
    ),
    ...Object.fromEntries(crdManifests.map((crd) => [`manifests/${crd.metadata.name}.crd.yaml`, yamlOf(crd)])),
    "metadata/annotations.yaml": yamlOf({ annotations }),
    "bundle.Dockerfile": dockerfile(),
  };
}

const dockerfile = (): string =>
  [
    "# The bundle as an image: docker build -f bundle.Dockerfile .",
    "FROM scratch",
    ...Object.entries(annotations).map(([name, value]) => `LABEL ${name}=${value}`),
    "COPY manifests /manifests/",
    "COPY metadata /metadata/",
    "",
  ].join("\n");

export const olmBundle: Part = {
  name: "OLM bundle",
  async make(release) {
    const file = `${packageName}-${release.version}-olm-bundle.tar`;
    const entries = Object.entries(await bundleFiles(release)).map(
      ([name, text]): Entry => ({ is: "text", path: `${csvName(release.version)}/${name}`, mode: 0o644, text }),
    );
    await writeTar(path.join(release.folder, file), entries, release.time);
    return [file];
  },
};
