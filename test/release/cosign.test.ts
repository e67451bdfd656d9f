// cosign and a release: it signs one with a key of its own, finds the files and the image in order, and refuses those of another.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { type TypedBlock, typedBlocks } from "../../docs/typed.ts";
import { run } from "../../lab/machine/command.ts";
import { ensureCosign, ensureCrane } from "../../release/programs/programs.ts";
import { verifyRelease } from "../../release/verify/verify.ts";
import { blockScript, typeScript } from "../support/docs.ts";
import { makeRelease, releaseFolder, version } from "./support/made.ts";
import { type Registry, startRegistry } from "./support/registry.ts";

/** Generous: the first run builds cosign. */
const patience = { timeout: 3_600_000 };
const password = "not a secret";

describe("a release that cosign signs", patience, () => {
  const folder = releaseFolder("by-cosign/release");
  const temporary = mkdtempSync(path.join(tmpdir(), "release-cosign-"));
  let registry: Registry;
  let cosign: string;

  const newKey = async (name: string): Promise<string> => {
    await run(cosign, ["generate-key-pair", `--output-key-prefix=${name}`], {
      cwd: temporary,
      env: { COSIGN_PASSWORD: password },
    });
    return path.join(temporary, name);
  };

  /** Types commands of a page in the release's folder. */
  async function type(block: TypedBlock): Promise<string> {
    const script = (await blockScript(block)).replaceAll("registry.example.com", registry.address);
    const env = { PATH: `${temporary}/bin:${process.env["PATH"] ?? ""}`, HOME: temporary };
    return typeScript(`cd ${folder}; ${script}`, { env });
  }

  before(async () => {
    rmSync(path.dirname(folder), { recursive: true, force: true });
    cosign = await ensureCosign();
    registry = await startRegistry();
    await mkdir(path.join(temporary, "bin"));
    await symlink(cosign, path.join(temporary, "bin/cosign"));
    await symlink(await ensureCrane(), path.join(temporary, "bin/crane"));
    const key = await newKey("own");
    await makeRelease(folder, `${registry.address}/etcd-operator`, {
      COSIGN_KEY: `${key}.key`,
      COSIGN_PASSWORD: password,
    });
  });
  after(async () => {
    await registry.stop();
    for (const made of [path.dirname(folder), temporary]) rmSync(made, { recursive: true, force: true });
  });

  test("is verified with the public key of its key", async () => {
    await verifyRelease(folder, await readFile(path.join(temporary, "own.pub"), "utf8"), () => {});
  });

  test("is found in order by cosign, as the docs have it", async () => {
    assert.match(await type(typedBlocks.verifyByCosign), /Verified OK[^]*Verified OK/);
  });

  test("has its signature and provenance beside the image in a registry, where cosign checks them", async () => {
    await type(typedBlocks.publishImage);
    assert.match(await type(typedBlocks.publishSignatures), /docker-manifest-digest/);
    const image = `${registry.address}/etcd-operator:${version}`;
    const options = [`--key=${folder}/cosign.pub`, "--insecure-ignore-tlog"];
    await run(cosign, ["verify-attestation", ...options, "--type=slsaprovenance1", image]);
    const other = await newKey("other");
    await assert.rejects(run(cosign, ["verify", `--key=${other}.pub`, "--insecure-ignore-tlog", image]), /signature/);
  });
});
