// The end of a release: signs the image's digest and the bill of materials, states how all was made, and sums up and signs
// every file.
import { readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { tree } from "../../lab/images/bundle.ts";
import { architectures, lockedPackage } from "../../lab/plugin/node-package.ts";
import { libraryPackages } from "../image/libraries.ts";
import { names, signatureOf } from "../names.ts";
import type { Release } from "../part.ts";
import { goVersion } from "../programs/go-program.ts";
import { type Dependency, enveloped, imagePayload, provenanceOf } from "./documents.ts";
import { publicKeyOf, signingKey } from "./key.ts";
import { signatureFor } from "./sign.ts";
import { sumsOf, sumsText } from "./sums.ts";

export async function finish(release: Release): Promise<void> {
  const { version, folder, image } = release;
  const files = names(version);
  const key = await signingKey();
  const write = (name: string, text: string): Promise<void> => writeFile(path.join(folder, name), text);
  const sign = async (name: string): Promise<void> =>
    write(signatureOf(name), await signatureFor(await readFile(path.join(folder, name)), key));

  await write(files.key, await publicKeyOf(key));
  await write(files.imagePayload, imagePayload(image));
  await sign(files.imagePayload);
  await sign(files.sbom);

  const made = await sumsOf(folder, [files.sums, signatureOf(files.sums), files.provenance]);
  const subjects = [
    { name: image.repository, digest: { sha256: image.digest.replace("sha256:", "") } },
    ...made
      .filter(({ file }) => file !== files.key && !file.endsWith(".sig"))
      .map(({ file, hash }) => ({ name: file, digest: { sha256: hash } })),
  ];
  const statement = provenanceOf(release, subjects, await dependencies());
  const envelope = await enveloped(statement, (bytes) => signatureFor(bytes, key));
  await write(files.provenance, `${JSON.stringify(envelope)}\n`);

  await write(files.sums, sumsText(await sumsOf(folder, [files.sums, signatureOf(files.sums)])));
  await sign(files.sums);
}

/** What the release is made from besides its source, all of it pinned there. */
async function dependencies(): Promise<Dependency[]> {
  const lock = await readFile(path.join(tree, "package-lock.json"), "utf8");
  const node = architectures.map((architecture) => {
    const name = `node-linux-${architecture === "amd64" ? "x64" : architecture}`;
    const { version, integrity } = lockedPackage(lock, name);
    const sha512 = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
    return { uri: `pkg:npm/${name}@${version}`, digest: { sha512 } };
  });
  const libraries = libraryPackages.flatMap(({ name, version, sha256 }) =>
    architectures.map((architecture) => ({
      uri: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
      digest: { sha256: sha256[architecture] },
    })),
  );
  return [...node, ...libraries, { uri: `pkg:golang/toolchain@${goVersion}` }];
}
