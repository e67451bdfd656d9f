// Checks a release from its files alone, and answers with a sentence for each thing that holds. The first that does not hold
// ends it, with a Failure.
import type { KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { gunzipSync } from "node:zlib";
import { names, signatureOf } from "../names.ts";
import {
  imagePayload,
  provenanceType,
  signedBytes,
  statementType,
  type Envelope,
  type Subject,
} from "../signature/documents.ts";
import { digestOf } from "../image/blobs.ts";
import { type FileSum, filesIn, readSums, sumsOf } from "../signature/sums.ts";
import { Failure, insist, parsed } from "./failure.ts";
import { readImage } from "./image.ts";
import { insistSigned, publicKey } from "./signatures.ts";
import { readTar } from "./tar-reader.ts";

type Files = ReturnType<typeof names>;

interface Checked {
  readonly folder: string;
  readonly files: Files;
  readonly key: KeyObject;
  readonly sums: readonly FileSum[];
}

/** `key` is the PEM of a key that is trusted; without one, the release's own is used, which shows that nothing changed since. */
export async function verifyRelease(
  folder: string,
  key: string | undefined,
  says: (sentence: string) => void,
): Promise<void> {
  const sums = readSums(await textIn(folder, "SHA256SUMS"));
  insist(sums !== undefined, "SHA256SUMS is damaged: not every line is a hash and a name.");
  const files = names(versionIn(sums));
  const own = await textIn(folder, files.key);
  insist(
    key === undefined || key.trim() === own.trim(),
    `${files.key} is not the key that you trust: somebody else signed this release.`,
  );
  const checked: Checked = { folder, files, key: publicKey(own, files.key), sums };

  await insistSignedFile(checked, files.sums);
  says("SHA256SUMS is signed.");
  await insistSums(checked);
  says(`All ${sums.length} files are those that SHA256SUMS names, and there are no others.`);
  const image = readImage(await readFile(path.join(folder, files.image)));
  insist(
    ["linux/amd64", "linux/arm64"].every((one) => image.platforms.includes(one)),
    `The image is for ${image.platforms.join(" and ")}, not for linux/amd64 and linux/arm64.`,
  );
  says(`The image ${image.digest} is whole, for ${image.platforms.join(" and ")}.`);
  insist(image.user === "65532:65532", `The image runs as ${image.user}, not as 65532.`);
  const shell = image.files.find((file) => /(^|\/)(sh|bash|dash|ash|busybox)$/.test(file));
  insist(shell === undefined, `The image has a shell: ${shell}.`);
  says("It runs as the user 65532, and has no shell.");

  await insistSignedFile(checked, files.imagePayload);
  const repository = insistPayload(await textIn(folder, files.imagePayload), image.digest);
  says("The digest of the image is signed.");
  await insistSignedFile(checked, files.sbom);
  insist(
    (await textIn(folder, files.sbom)).includes(image.digest.replace("sha256:", "")),
    "The bill of materials is of another image.",
  );
  says("The bill of materials is signed, and of this image.");
  await insistProvenance(checked, repository, image.digest);
  says("The provenance is signed, and names the image and every file by its hash.");
  await insistReferences(checked, `${repository}@${image.digest}`);
  says(`Manifests and chart install ${repository} by this digest, and nothing else.`);
  await insistAirGap(checked);
  says("The archive for air gaps has the same files.");
}

async function textIn(folder: string, file: string): Promise<string> {
  return readFile(path.join(folder, file), "utf8").catch(() => {
    throw new Failure(`The release has no ${file}.`);
  });
}

function versionIn(sums: readonly FileSum[]): string {
  const version = sums
    .map(({ file }) => /^etcd-operator-(.+)\.oci\.tar$/.exec(file)?.[1])
    .find((one) => one !== undefined);
  insist(version !== undefined, "SHA256SUMS names no image.");
  return version;
}

async function insistSignedFile({ folder, key }: Checked, file: string): Promise<void> {
  const content = await readFile(path.join(folder, file)).catch(() => {
    throw new Failure(`The release has no ${file}.`);
  });
  insistSigned(content, await textIn(folder, signatureOf(file)), key, file);
}

async function insistSums({ folder, files, sums }: Checked): Promise<void> {
  const apart = [files.sums, signatureOf(files.sums)];
  const present = await filesIn(folder);
  const named = new Set(sums.map(({ file }) => file));
  const unnamed = present.filter((file) => !named.has(file) && !apart.includes(file));
  insist(unnamed.length === 0, `SHA256SUMS does not name ${unnamed.join(", ")}: not part of the release.`);
  const missing = [...named].filter((file) => !present.includes(file));
  insist(missing.length === 0, `The release has no ${missing.join(", ")}.`);
  const found = new Map((await sumsOf(folder, apart)).map(({ file, hash }) => [file, hash]));
  const changed = sums.filter(({ file, hash }) => found.get(file) !== hash).map(({ file }) => file);
  insist(changed.length === 0, `Changed since the release was made: ${changed.join(", ")}.`);
}

/** Gives back the repository. */
function insistPayload(text: string, digest: string): string {
  const { critical } = parsed(text, "The payload of the image's signature") as {
    critical: { identity: { "docker-reference": string }; image: { "docker-manifest-digest": string } };
  };
  const repository = critical.identity["docker-reference"];
  insist(
    text === imagePayload({ repository, digest, tag: "" }),
    `The signature of the image is for ${critical.image["docker-manifest-digest"]}, not for ${digest}.`,
  );
  return repository;
}

async function insistProvenance(
  { folder, files, key, sums }: Checked,
  repository: string,
  digest: string,
): Promise<void> {
  const envelope = parsed(await textIn(folder, files.provenance), "The provenance") as Envelope;
  const payload = Buffer.from(envelope.payload, "base64");
  const [signature] = envelope.signatures;
  insistSigned(signedBytes(envelope.payloadType, payload), signature?.sig ?? "", key, "the provenance");
  const statement = parsed(payload.toString(), "The statement of the provenance") as {
    _type: string;
    predicateType: string;
    subject: readonly Subject[];
  };
  insist(
    statement._type === statementType && statement.predicateType === provenanceType,
    "The provenance is not a statement of SLSA.",
  );
  const subjects = new Map(statement.subject.map((one) => [one.name, one.digest.sha256]));
  insist(`sha256:${subjects.get(repository)}` === digest, "The provenance is of another image.");
  for (const { file, hash } of sums)
    insist(
      file === files.key || file === files.provenance || file.endsWith(".sig") || subjects.get(file) === hash,
      `The provenance does not say how ${file} was made.`,
    );
}

/** Every image that a manifest names for a container is the operator's, by its digest. */
async function insistReferences({ folder, files }: Checked, reference: string): Promise<void> {
  const texts = new Map<string, string>();
  for (const file of [files.install, files.installNamespace]) texts.set(file, await textIn(folder, file));
  for (const file of [files.kustomize, files.chart])
    for (const { path: name, is, content } of readTar(gunzipSync(await readFile(path.join(folder, file)))))
      if (is === "file" && /(install|operator|values)\.yaml$/.test(name))
        texts.set(`${file}: ${name}`, content.toString());
  for (const [file, text] of texts) {
    const images = file.endsWith("values.yaml") ? [valuesImage(text)] : imagesIn(text);
    insist(
      images.length > 0 && images.every((one) => one === reference),
      `${file} names the image ${images.join(", ") || "of nobody"}, not ${reference}.`,
    );
  }
}

/** Those of containers: a schema describes `image:` on a line of its own. */
const imagesIn = (text: string): string[] =>
  [...text.matchAll(/^\s+(?:- )?image: "?([^\s"]+)"?$/gm)].flatMap(([, image]) => (image === undefined ? [] : [image]));

function valuesImage(text: string): string {
  const repository = /^ {2}repository: "?([^\s"]+)"?$/m.exec(text)?.[1];
  const digest = /^ {2}digest: "?([^\s"]+)"?$/m.exec(text)?.[1];
  return `${repository}@${digest}`;
}

async function insistAirGap({ folder, files, sums }: Checked): Promise<void> {
  const hashes = new Map(sums.map(({ file, hash }) => [file, hash]));
  const entries = readTar(await readFile(path.join(folder, files.airGap))).filter(({ is }) => is === "file");
  insist(entries.length > 0, `${files.airGap} is empty.`);
  for (const { path: name, content } of entries)
    insist(
      digestOf(content) === `sha256:${hashes.get(path.basename(name))}`,
      `${files.airGap} has another ${path.basename(name)} than the release.`,
    );
}
