// Signs bytes as cosign signs a blob, without a transparency log or any other service of the net.
import { createSign } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { run } from "../../lab/machine/command.ts";
import { ensureCosign } from "../programs/programs.ts";
import type { SigningKey } from "./key.ts";

/** In base64, as `cosign verify-blob --signature` takes it. */
export async function signatureFor(content: string | Buffer, signer: SigningKey): Promise<string> {
  if (signer.t === "own") return createSign("sha256").update(content).sign(signer.key).toString("base64");
  const cosign = await ensureCosign();
  const folder = await mkdtemp(path.join(tmpdir(), "release-sign-"));
  try {
    const [file, signature] = [path.join(folder, "content"), path.join(folder, "signature")];
    await writeFile(file, content);
    // The format of one signature, which cosign 2 and 3 and openssl can check alike.
    const offline = ["--use-signing-config=false", "--tlog-upload=false", "--new-bundle-format=false"];
    await run(
      cosign,
      ["sign-blob", `--key=${signer.key}`, ...offline, `--output-signature=${signature}`, "--yes", file],
      {
        env: { COSIGN_PASSWORD: signer.password },
      },
    );
    return (await readFile(signature, "utf8")).trim();
  } finally {
    await rm(folder, { recursive: true });
  }
}
