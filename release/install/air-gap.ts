// Everything that a Kubernetes without the Internet needs, in one archive: the image, the manifests, the chart, and the list
// of all images, for a registry of one's own.
import { writeFile } from "node:fs/promises";
import * as path from "node:path";
import type { Entry } from "../../lab/images/tar.ts";
import { waypoints } from "../../src/etcd/versions/steps.ts";
import { formatVersion } from "../../src/etcd/versions/version.ts";
import { writeTar } from "../archive.ts";
import { names } from "../names.ts";
import type { Part, Release } from "../part.ts";
import { referenceOf } from "./manifests.ts";

/** Where members come from when an EtcdCluster does not say otherwise. */
const etcdRepository = "quay.io/coreos/etcd";

/** The newest patch of each minor that a new cluster should have. Older ones are for clusters that exist, and their owners know. */
export const etcdImages: readonly string[] = waypoints
  .slice(-3)
  .map((newest) => `${etcdRepository}:v${formatVersion(newest)}`);

const imageList = ({ image }: Release): string =>
  `# The operator's image is in this folder. Copy those of etcd that your clusters run, one line each.\n${[referenceOf(image), ...etcdImages].join("\n")}\n`;

export const airGap: Part = {
  name: "air gap",
  async make(release) {
    const { version, folder, time } = release;
    const { airGap: file, imageList: list, image, chart, install, installNamespace, crds, kustomize } = names(version);
    await writeFile(path.join(folder, list), imageList(release));
    const entries = [image, chart, install, installNamespace, crds, kustomize, list].map(
      (name): Entry => ({
        is: "copy",
        path: `etcd-operator-${version}/${name}`,
        mode: 0o644,
        of: path.join(folder, name),
      }),
    );
    await writeTar(path.join(folder, file), entries, time);
    return [list, file];
  },
};
