// The key that signs a release: the one that COSIGN_KEY names, or one of this machine, which is made when it is first needed
// and stays outside the tree.
import { chmod, mkdir, rename } from "node:fs/promises";
import * as path from "node:path";
import { cacheRoot, exists } from "../../lab/build/cache.ts";
import { run } from "../../lab/machine/command.ts";
import { say } from "../../lab/progress.ts";
import { ensureCosign } from "../programs/programs.ts";

export interface SigningKey {
  /** A file, or the address of a key in a KMS: awskms://…, gcpkms://…, azurekms://…, hashivault://… */
  readonly key: string;
  /** COSIGN_PASSWORD, which a key of a file is encrypted with. */
  readonly password: string;
}

export async function signingKey(env: Readonly<Record<string, string | undefined>> = process.env): Promise<SigningKey> {
  const given = env["COSIGN_KEY"];
  if (given !== undefined && given !== "") return { key: given, password: env["COSIGN_PASSWORD"] ?? "" };
  const own = await ownKey(path.join(cacheRoot(env), "release-key"));
  say(`  signed with a key of this machine, ${own}: set COSIGN_KEY to publish under a key that others know`);
  return { key: own, password: "" };
}

async function ownKey(folder: string): Promise<string> {
  const key = path.join(folder, "cosign.key");
  if (await exists(key)) return key;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const cosign = await ensureCosign();
  await run(cosign, ["generate-key-pair", "--output-key-prefix=unfinished"], {
    cwd: folder,
    env: { COSIGN_PASSWORD: "" },
  });
  await chmod(path.join(folder, "unfinished.key"), 0o600);
  await rename(path.join(folder, "unfinished.pub"), path.join(folder, "cosign.pub"));
  await rename(path.join(folder, "unfinished.key"), key);
  return key;
}

/** In PEM. */
export async function publicKeyOf({ key, password }: SigningKey): Promise<string> {
  const cosign = await ensureCosign();
  return run(cosign, ["public-key", `--key=${key}`], { env: { COSIGN_PASSWORD: password } });
}
