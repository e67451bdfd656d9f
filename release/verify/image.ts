// The image of a release, read from its archive: every document and layer is the one whose hash is named, from the index down.
import { gunzipSync } from "node:zlib";
import { blobPath, digestOf, mediaTypes } from "../image/blobs.ts";
import { insist, parsed } from "./failure.ts";
import { readTar, type TarEntry } from "./tar-reader.ts";

export interface FoundImage {
  /** Digest of the index. */
  readonly digest: string;
  /** As in linux/amd64. */
  readonly platforms: readonly string[];
  /** The user that the programs run as, if it is the same for every platform. */
  readonly user: string;
  readonly created: string;
  /** Files of every platform, without their links. */
  readonly files: readonly string[];
}

interface Pointer {
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os: string; readonly architecture: string };
}

export function readImage(archive: Buffer): FoundImage {
  const blobs = new Map(readTar(archive).map((entry) => [entry.path, entry]));
  const top = parsed(textOf(blobs, "index.json"), "index.json of the image") as { manifests: readonly Pointer[] };
  const [pointer] = top.manifests;
  insist(pointer !== undefined && top.manifests.length === 1, "The archive of the image must have one index.");
  const used = new Set<string>(["index.json", "oci-layout"]);
  const blob = ({ digest, size }: Pointer): Buffer => {
    const entry = blobs.get(blobPath(digest));
    insist(entry !== undefined, `The image names ${digest}, which its archive has not.`);
    insist(
      entry.content.length === size && digestOf(entry.content) === digest,
      `A part of the image is not what its hash says: ${digest}.`,
    );
    used.add(entry.path);
    return entry.content;
  };
  const json = (one: Pointer): unknown => parsed(blob(one).toString(), `A document of the image, ${one.digest},`);

  const index = json(pointer) as { mediaType: string; manifests: readonly Pointer[] };
  insist(index.mediaType === mediaTypes.index, "The image is not an index of several platforms.");
  const files = new Set<string>();
  const users = new Set<string>();
  const times = new Set<string>();
  const platforms = index.manifests.map((one) => {
    const manifest = json(one) as { config: Pointer; layers: readonly Pointer[] };
    const config = json(manifest.config) as {
      os: string;
      architecture: string;
      created: string;
      config: { User: string };
      rootfs: { diff_ids: readonly string[] };
    };
    const platform = `${config.os}/${config.architecture}`;
    insist(
      platform === `${one.platform?.os}/${one.platform?.architecture}`,
      `The index names an image for ${one.platform?.os}/${one.platform?.architecture}, which is for ${platform}.`,
    );
    users.add(config.config.User);
    times.add(config.created);
    for (const [at, layer] of manifest.layers.entries()) {
      const unpacked = gunzipSync(blob(layer));
      insist(
        digestOf(unpacked) === config.rootfs.diff_ids[at],
        `Layer ${at + 1} for ${platform} is not the one that its configuration names.`,
      );
      for (const { path, is } of readTar(unpacked)) if (is === "file") files.add(path);
    }
    return platform;
  });
  for (const { path, is } of blobs.values())
    insist(
      is === "folder" || used.has(path),
      `The archive of the image has a file that the image does not name: ${path}.`,
    );
  return {
    digest: pointer.digest,
    platforms,
    user: [...users].join(", "),
    created: [...times].join(", "),
    files: [...files].sort(),
  };
}

function textOf(blobs: ReadonlyMap<string, TarEntry>, name: string): string {
  const entry = blobs.get(name);
  insist(entry !== undefined, `The archive of the image has no ${name}.`);
  return entry.content.toString();
}
