// The key that signs a release: the one that COSIGN_KEY names, which only cosign can use, or one of this machine, which is made
// when it is first needed and stays outside the tree.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { cacheRoot, exists } from "../../lab/build/cache.ts";
import { run } from "../../lab/machine/command.ts";
import { say } from "../../lab/progress.ts";
import { ensureCosign } from "../programs/programs.ts";

export type SigningKey =
  | { readonly t: "own"; readonly key: KeyObject }
  /** A file that cosign made, or the address of a key in a KMS: awskms://…, gcpkms://…, azurekms://…, hashivault://… */
  | { readonly t: "cosign"; readonly key: string; readonly password: string };

type Environment = Readonly<Record<string, string | undefined>>;

export async function signingKey(env: Environment = process.env): Promise<SigningKey> {
  const given = env["COSIGN_KEY"];
  if (given !== undefined && given !== "") return { t: "cosign", key: given, password: env["COSIGN_PASSWORD"] ?? "" };
  const file = path.join(cacheRoot(env), "release-key", "key.pem");
  say(`  signed with a key of this machine, ${file}: set COSIGN_KEY to publish under a key that others know`);
  return { t: "own", key: createPrivateKey(await ownKey(file)) };
}

async function ownKey(file: string): Promise<string> {
  if (!(await exists(file))) {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const unfinished = `${file}.${process.pid}`;
    await writeFile(unfinished, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
    await rename(unfinished, file);
  }
  return readFile(file, "utf8");
}

/** In PEM. */
export async function publicKeyOf(signer: SigningKey): Promise<string> {
  if (signer.t === "own") return createPublicKey(signer.key).export({ type: "spki", format: "pem" }).toString();
  const cosign = await ensureCosign();
  return run(cosign, ["public-key", `--key=${signer.key}`], { env: { COSIGN_PASSWORD: signer.password } });
}
