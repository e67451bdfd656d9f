// The operator's image for every architecture, as an OCI image layout in one archive: the same commit gives the same digest
// on every machine.
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { nodeConfig } from "../../lab/images/node.ts";
import type { Entry } from "../../lab/images/tar.ts";
import { type Architecture, architectures } from "../../lab/plugin/node-package.ts";
import { step } from "../../lab/progress.ts";
import { writeTar } from "../archive.ts";
import { names } from "../names.ts";
import type { Release, ReleasedImage } from "../part.ts";
import { ensureGzip } from "../programs/programs.ts";
import { Blobs, type Descriptor, mediaTypes } from "./blobs.ts";
import { platformLayers } from "./platforms.ts";

export interface Layout {
  readonly entries: readonly Entry[];
  readonly digest: string;
  readonly sizes: object;
}

/** Writes the image and what it consists of, and gives back its name. */
export function makeImage(release: Omit<Release, "image">, repository: string): Promise<ReleasedImage> {
  return step("image", async (progress) => {
    const blobs = new Blobs(await mkdtemp(path.join(tmpdir(), "release-image-")));
    try {
      const { version, time, folder } = release;
      const { entries, digest, sizes } = await layoutOf(release, repository, blobs, (text) => progress.detail(text));
      progress.detail("archive");
      await mkdir(folder, { recursive: true });
      await writeTar(path.join(folder, names(version).image), entries, time);
      await writeFile(path.join(folder, names(version).imageSizes), `${JSON.stringify(sizes, undefined, 2)}\n`);
      return { repository, tag: version, digest };
    } finally {
      await blobs.remove();
    }
  });
}

async function layoutOf(
  release: Omit<Release, "image">,
  repository: string,
  blobs: Blobs,
  detail: (text: string) => void,
): Promise<Layout> {
  const { version, revision, time } = release;
  const created = new Date(time * 1000).toISOString().replace(".000", "");
  const annotations = {
    "org.opencontainers.image.title": "etcd-operator",
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.revision": revision,
    "org.opencontainers.image.created": created,
    "org.opencontainers.image.licenses": "Apache-2.0",
  };
  const gzip = await ensureGzip();
  const manifests: (Descriptor & { platform: { architecture: Architecture; os: "linux" } })[] = [];
  const sizes: object[] = [];
  for (const architecture of architectures) {
    const layers: { comment: string; digest: string; size: number; unpacked: number }[] = [];
    const made = [];
    for (const { comment, entries } of await platformLayers(architecture)) {
      detail(`linux/${architecture}: ${comment}`);
      const layer = await blobs.layer(entries, gzip);
      made.push({ comment, layer });
      layers.push({ comment, digest: layer.digest, size: layer.size, unpacked: layer.unpacked });
    }
    const config = blobs.json(mediaTypes.config, {
      created,
      architecture,
      os: "linux",
      config: { ...nodeConfig("etcd-operator"), Labels: annotations },
      rootfs: { type: "layers", diff_ids: made.map(({ layer }) => layer.diffId) },
      history: made.map(({ comment }) => ({ created, created_by: "release/image", comment })),
    });
    const manifest = blobs.json(mediaTypes.manifest, {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config,
      layers: made.map(({ layer: { mediaType, digest, size } }) => ({ mediaType, digest, size })),
      annotations,
    });
    manifests.push({ ...manifest, platform: { architecture, os: "linux" } });
    sizes.push({ platform: `linux/${architecture}`, digest: manifest.digest, layers });
  }
  const index = blobs.json(mediaTypes.index, { schemaVersion: 2, mediaType: mediaTypes.index, manifests, annotations });
  return {
    digest: index.digest,
    sizes: { digest: index.digest, created, platforms: sizes },
    entries: [
      ...blobs.entries,
      { is: "text", path: "oci-layout", mode: 0o644, text: JSON.stringify({ imageLayoutVersion: "1.0.0" }) },
      {
        is: "text",
        path: "index.json",
        mode: 0o644,
        text: JSON.stringify({
          schemaVersion: 2,
          mediaType: mediaTypes.index,
          manifests: [
            {
              ...index,
              annotations: {
                // The names that containerd, and that skopeo and podman, give to what they load.
                "io.containerd.image.name": `${repository}:${version}`,
                "org.opencontainers.image.ref.name": version,
              },
            },
          ],
        }),
      },
    ],
  };
}
