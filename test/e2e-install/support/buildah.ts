// buildah, a builder of Dockerfiles without a daemon, with a storage of its own. It asks little of the machine: stages run in a
// chroot, and each image is a plain folder.
import { after } from "node:test";
import { ensureBuilder } from "../../../lab/build/packages.ts";
import { cacheRoot } from "../../../lab/build/cache.ts";
import { run } from "../../../lab/machine/command.ts";
import { ownFolder } from "../../scratch.ts";

interface Configuration {
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly User: string;
  readonly WorkingDir: string;
}

export interface Buildah {
  /** A folder that goes with the test file. */
  readonly folder: string;
  call(...words: string[]): Promise<string>;
  /** Takes an image in from an archive as `docker save` writes it. */
  pull(archive: string): Promise<void>;
  configuration(image: string): Promise<Configuration>;
  /** The folder with the image's files. */
  files(image: string): Promise<string>;
}

/** Generous, for a busy machine: a build unpacks and writes half a gigabyte. */
const patience = 900_000;

const own = await ownFolder(cacheRoot(), "buildah");
const storage = own.folder;
// At the top level: a hook registered inside another hook would run too early.
after(() => own.remove());

export async function buildah(): Promise<Buildah> {
  await ensureBuilder();
  const options = [`--root=${storage}/root`, `--runroot=${storage}/run`, "--storage-driver=vfs"];
  const call = (...words: string[]): Promise<string> =>
    run("buildah", [...options, ...words], {
      env: { BUILDAH_ISOLATION: "chroot", TMPDIR: storage },
      signal: AbortSignal.timeout(patience),
    });
  return {
    folder: storage,
    call,
    pull: async (archive) => void (await call("pull", "--quiet", `docker-archive:${archive}`)),
    async configuration(image) {
      const { OCIv1 } = JSON.parse(await call("inspect", "--type=image", image)) as {
        OCIv1: { config: Configuration };
      };
      const { Env, Entrypoint, User, WorkingDir } = OCIv1.config;
      return { Env, Entrypoint, User, WorkingDir };
    },
    async files(image) {
      const container = (await call("from", "--pull-never", image)).trim();
      return (await call("mount", container)).trim();
    },
  };
}
