// What a Secret with a certificate holds, in the form of etcd-operator 0.9 or of cert-manager, and how PEM text is read.
import { X509Certificate } from "node:crypto";
import { listed, type Problem } from "./problem.ts";
import { remembered } from "./remembered.ts";

/** PEM texts. The certificate may be followed by intermediates: a chain, leaf first. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** What one Secret holds: who it is, and whom it trusts. */
export interface Bundle {
  /** One CA certificate or several. */
  readonly ca: string;
  readonly pair: KeyPair;
}

export type SecretUse = "peer" | "server" | "etcd-client";

/** Under which keys a Secret has the parts of a bundle. */
export interface KeyNames {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

type SecretData = Readonly<Record<string, string>>;

const certManagerNames: KeyNames = { cert: "tls.crt", key: "tls.key", ca: "ca.crt" };

const ownNames = (use: SecretUse): KeyNames => ({ cert: `${use}.crt`, key: `${use}.key`, ca: `${use}-ca.crt` });

/**
 * The form that the Secret has. If both are complete, that of etcd-operator 0.9 counts, because it is the more
 * deliberate; if neither is, the one with fewer gaps, so that the sentence about it is of use.
 */
export function keyNamesIn(use: SecretUse, data: SecretData): KeyNames {
  const own = ownNames(use);
  return gapsIn(certManagerNames, data).length < gapsIn(own, data).length ? certManagerNames : own;
}

// cert-manager leaves `ca.crt` empty for some issuers: an empty value is a missing one.
const gapsIn = ({ cert, key, ca }: KeyNames, data: SecretData): string[] =>
  [cert, key, ca].filter((name) => (data[name] ?? "").trim() === "");

/** Takes a Secret's data, decoded from base64. Only checks that the parts are there. */
export function readBundle(use: SecretUse, data: SecretData): Bundle | Problem {
  const names = keyNamesIn(use, data);
  const gaps = gapsIn(names, data);
  if (gaps.length > 0) return gapsProblem(names, gaps, use);
  const part = (name: string): string => data[name] ?? "";
  return { ca: part(names.ca), pair: { cert: part(names.cert), key: part(names.key) } };
}

/** Under the names of etcd-operator 0.9. */
export function writeBundle(use: SecretUse, { ca, pair }: Bundle): Record<string, string> {
  const names = ownNames(use);
  return { [names.cert]: pair.cert, [names.key]: pair.key, [names.ca]: ca };
}

function gapsProblem(names: KeyNames, gaps: readonly string[], use: SecretUse): Problem {
  const own = ownNames(use);
  const both = `${listed([own.cert, own.key, own.ca])}, or ${listed(["tls.crt", "tls.key", "ca.crt"])}`;
  if (gaps.length === 3) return { t: "missing", sentence: `It has no certificate. Add the keys ${both}.` };
  if (gaps.includes(names.cert) !== gaps.includes(names.key)) {
    const [there, absent] = gaps.includes(names.cert) ? [names.key, names.cert] : [names.cert, names.key];
    return {
      t: "incomplete",
      sentence: `It has ${there} and not ${absent}. Add ${listed(gaps)}: they belong together.`,
    };
  }
  if (gaps.includes(names.cert))
    return { t: "missing", sentence: `It has ${names.ca} and no certificate. Add ${listed(gaps)}.` };
  const hint =
    names === certManagerNames ? " cert-manager fills it for issuers that know their CA, as a CA issuer does." : "";
  return {
    t: "missing",
    sentence: `It has no ${names.ca}. Add the certificate of the CA that the other side's certificates are checked against.${hint}`,
  };
}

const block = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** The certificates in a PEM text, in their order; other blocks and text between them do not count. Undefined when one cannot be read, or there is none. */
export function certificatesIn(pem: string): Certificates | undefined {
  return readCertificates(pem);
}

type Certificates = readonly [X509Certificate, ...X509Certificate[]];

const readCertificates = remembered((pem = ""): Certificates | undefined => {
  try {
    const [first, ...others] = (pem.match(block) ?? []).map((text) => new X509Certificate(text));
    return first && [first, ...others];
  } catch {
    return undefined;
  }
});
