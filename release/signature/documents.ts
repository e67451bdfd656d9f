// What is signed: the digest of the image in the form of cosign, and a statement of in-toto in its envelope.
import type { Release, ReleasedImage } from "../part.ts";

/** What `cosign sign` signs for an image, and keeps beside it in a registry. */
export const imagePayload = ({ repository, digest }: ReleasedImage): string =>
  JSON.stringify({
    critical: {
      identity: { "docker-reference": repository },
      image: { "docker-manifest-digest": digest },
      type: "cosign container image signature",
    },
    optional: null,
  });

export const statementType = "https://in-toto.io/Statement/v1";
export const provenanceType = "https://slsa.dev/provenance/v1";
const envelopeType = "application/vnd.in-toto+json";

export interface Subject {
  readonly name: string;
  readonly digest: { readonly sha256: string };
}

export interface Dependency {
  readonly uri: string;
  readonly digest?: Readonly<Record<string, string>>;
}

/** How the release was made, as SLSA states it. It says nothing of the machine, so that it is the same on every one. */
export function provenanceOf(
  release: Release,
  subjects: readonly Subject[],
  dependencies: readonly Dependency[],
): object {
  return {
    _type: statementType,
    subject: subjects,
    predicateType: provenanceType,
    predicate: {
      buildDefinition: {
        buildType: "urn:etcd-operator:make-release:v1",
        externalParameters: { version: release.version, image: release.image.repository },
        internalParameters: { SOURCE_DATE_EPOCH: release.time },
        resolvedDependencies: [{ name: "source", digest: { gitCommit: release.revision } }, ...dependencies],
      },
      runDetails: { builder: { id: "urn:etcd-operator:make-release" } },
    },
  };
}

export interface Envelope {
  readonly payloadType: string;
  /** In base64. */
  readonly payload: string;
  readonly signatures: readonly { readonly sig: string }[];
}

/** The bytes that are signed: https://github.com/secure-systems-lab/dsse. */
export function signedBytes(payloadType: string, payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

export async function enveloped(statement: object, sign: (bytes: Buffer) => Promise<string>): Promise<Envelope> {
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = await sign(signedBytes(envelopeType, payload));
  return { payloadType: envelopeType, payload: payload.toString("base64"), signatures: [{ sig }] };
}
