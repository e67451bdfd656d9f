// A release of this tree as it is, made as people make it, and the key that it is signed with.
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { run } from "../../../lab/machine/command.ts";
import { ensureCosign } from "../../../release/programs/programs.ts";
import type { SigningKey } from "../../../release/signature/key.ts";
import { root } from "../../suites.ts";

export const version = "0.2.0";
export interface Signer extends SigningKey {
  /** In PEM. */
  readonly publicKey: string;
  readonly remove: () => Promise<void>;
}

export async function newSigner(): Promise<Signer> {
  const folder = await mkdtemp(path.join(tmpdir(), "release-key-"));
  const password = "not a secret";
  await run(await ensureCosign(), ["generate-key-pair"], { cwd: folder, env: { COSIGN_PASSWORD: password } });
  return {
    key: path.join(folder, "cosign.key"),
    password,
    publicKey: await readFile(path.join(folder, "cosign.pub"), "utf8"),
    remove: () => rm(folder, { recursive: true }),
  };
}

/** Where tests leave releases, each below a name of its own. */
export const releaseFolder = (name: string): string => path.join(root, "dist/test-release", name);

export async function makeRelease(folder: string, image: string, { key, password }: Signer): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true });
  const options = [`--version=${version}`, `--image=${image}`, `--folder=${folder}`, "--uncommitted"];
  await run(process.execPath, ["release/main.ts", ...options], {
    cwd: root,
    env: {
      COSIGN_KEY: key,
      COSIGN_PASSWORD: password,
      // Of a tree that is no git repository.
      REVISION: process.env["REVISION"] ?? "0000000000000000000000000000000000000000",
      SOURCE_DATE_EPOCH: process.env["SOURCE_DATE_EPOCH"] ?? "1760000000",
    },
  });
}
