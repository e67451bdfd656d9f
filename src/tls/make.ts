// Makes CAs and certificates of members and clients, for clusters whose certificates the operator keeps itself.
import { createPrivateKey, randomBytes, webcrypto } from "node:crypto";
import type * as X509 from "@peculiar/x509";
import type { KeyPair } from "./pem.ts";
import { loadX509 } from "./x509.ts";

/** A CA with its key. PEM. */
export interface Authority {
  readonly cert: string;
  readonly key: string;
}

export interface LeafRequest {
  readonly commonName: string;
  /** DNS names. */
  readonly names: readonly string[];
  readonly ips?: readonly string[];
  readonly use: "server" | "client" | "both";
  /** Absent: 90 days. */
  readonly lifeMs?: number;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const day = 86_400_000;
const authorityLifeMs: number = 3650 * day;
export const leafLifeMs: number = 90 * day;
/** Certificates begin before they are made: clocks of nodes differ. */
const skewMs = 5 * 60_000;
/** The longest common name that X.509 allows (ub-common-name). */
const longestName = 64;

/** Each has a name of its own: with two CAs of one name in a bundle, a verifier would have to try both. */
export async function makeAuthority(name: string, now: number): Promise<Authority> {
  const x509 = await loadX509();
  const keys = await newKeys();
  const suffix = ` ${randomBytes(4).toString("hex")}`;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: [{ CN: [`${name.slice(0, longestName - suffix.length)}${suffix}`] }],
    keys,
    signingAlgorithm: algorithm,
    ...validity(now, authorityLifeMs),
    extensions: [
      // No intermediates below it: it signs members and clients only.
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pemOf(certificate, keys);
}

export async function makeLeaf(authority: Authority, request: LeafRequest, now: number): Promise<KeyPair> {
  const x509 = await loadX509();
  const keys = await newKeys();
  const issuer = new x509.X509Certificate(authority.cert);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: [{ CN: [request.commonName] }],
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: await signingKey(authority),
    signingAlgorithm: algorithm,
    ...validity(now, request.lifeMs ?? leafLifeMs, issuer.notAfter),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages(x509, request.use)),
      ...alternatives(x509, request),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return pemOf(certificate, keys);
}

/** No certificate outlives its CA. */
function validity(now: number, life: number, latest?: Date): { notBefore: Date; notAfter: Date } {
  const end = now + life;
  return { notBefore: new Date(now - skewMs), notAfter: new Date(Math.min(end, latest?.getTime() ?? end)) };
}

function usages(x509: typeof X509, use: LeafRequest["use"]): string[] {
  const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;
  return { server: [serverAuth], client: [clientAuth], both: [serverAuth, clientAuth] }[use];
}

function alternatives(x509: typeof X509, { names, ips = [] }: LeafRequest): X509.Extension[] {
  const values = [
    ...names.map((value) => ({ type: "dns", value }) as const),
    ...ips.map((value) => ({ type: "ip", value }) as const),
  ];
  return values.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(values)];
}

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);

async function signingKey({ key }: Authority): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(key).export({ type: "pkcs8", format: "der" });
  return webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
}

/** 128 random bits, of which the first is 0 and the second 1: a positive number that keeps its length. */
function serial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString("hex");
}

async function pemOf(certificate: X509.X509Certificate, keys: webcrypto.CryptoKeyPair): Promise<KeyPair> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
  const key = createPrivateKey({ key: der, type: "pkcs8", format: "der" });
  return { cert: `${certificate.toString("pem")}\n`, key: key.export({ type: "pkcs8", format: "pem" }).toString() };
}
