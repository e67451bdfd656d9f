// What a release is asked to be: checked before minutes of work.
import { parseArgs } from "node:util";
import { UsageError } from "../lab/config.ts";
import { image as unpublished } from "../src/image.ts";

export interface Wanted {
  readonly version: string;
  /** The repository of the image, without a tag. */
  readonly image: string;
  readonly folder: string;
  /** Also what is not committed: a release for trying. */
  readonly uncommitted: boolean;
}

export const help = `make release VERSION=0.2.0 [IMAGE=registry.example.com/etcd-operator]

  VERSION         the version of the release, without a v
  IMAGE           the repository that the image is published in; without it, a name that never resolves
  RELEASE_OPTIONS --folder DIR   where to leave it (dist/release)
                  --uncommitted  release the tree as it is, for trying
  COSIGN_KEY      in the environment: the key to sign with, a file or a key in a KMS; COSIGN_PASSWORD is its password
  COSIGN          in the environment: a cosign that is installed, instead of one that is built from source for minutes
  REVISION, SOURCE_DATE_EPOCH
                  in the environment: the commit and its time, in seconds, where the tree is no git repository`;

export function wantedOf(words: readonly string[]): Wanted | "help" {
  const { values } = parseArgs({
    args: [...words],
    options: {
      version: { type: "string" },
      image: { type: "string" },
      folder: { type: "string", default: "dist/release" },
      uncommitted: { type: "boolean", default: false },
      help: { type: "boolean" },
    },
  });
  if (values.help) return "help";
  const { version = "", image = unpublished.repository, folder, uncommitted } = values;
  if (!/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$/.test(version))
    throw new UsageError(
      version === "" ? "A release needs a version." : `"${version}" is not a version such as 0.2.0 or 0.2.0-rc.1.`,
    );
  refuseImage(image);
  return { version, image, folder, uncommitted };
}

/** Without a registry's host, nodes would ask Docker Hub, where anybody may own the name. */
function refuseImage(image: string): void {
  const [host = "", ...rest] = image.split("/");
  const isHost = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d+)?$/.test(host);
  if (!isHost || !(host.includes(".") || host.includes(":") || host === "localhost"))
    throw new UsageError(
      `The image "${image}" must begin with the host of its registry, as in registry.example.com/etcd-operator.`,
    );
  if (rest.length === 0 || !rest.every((part) => /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$/.test(part)))
    throw new UsageError(
      `The image "${image}" must be a repository in lower case, without a tag and digest, as in registry.example.com/etcd-operator.`,
    );
}
