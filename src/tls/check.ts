// Whether what a Secret holds can be used: read by node:crypto alone, so that a check costs no library.
import { createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto";
import { chainTo } from "./chain.ts";
import { namesNotCovered } from "./names.ts";
import { type Bundle, certificatesIn, type KeyNames, keyNamesIn, readBundle, type SecretUse } from "./pem.ts";
import { isProblem, listed, type Problem } from "./problem.ts";

export interface Expected {
  /** DNS names that a server certificate must cover; one may be a wildcard, which only the same wildcard covers. */
  readonly names: readonly string[];
  /** `both`: a peer's, which is server and client. */
  readonly use: "server" | "client" | "both";
  /**
   * The CA that the other side trusts, which must have signed the certificate. Default: the one in the bundle, as in a
   * peer's. A server's Secret has the CA of clients, and the two may differ.
   */
  readonly signedBy?: string;
  /** For sentences. */
  readonly keys?: KeyNames;
}

/** Reads and checks in one go, so that sentences have the keys that the Secret has. */
export function checkSecret(
  use: SecretUse,
  data: Readonly<Record<string, string>>,
  expected: Expected,
  now: number,
): Bundle | Problem {
  const bundle = readBundle(use, data);
  if (isProblem(bundle)) return bundle;
  return checkBundle(bundle, { keys: keyNamesIn(use, data), ...expected }, now) ?? bundle;
}

const plainWords: KeyNames = { cert: "the certificate", key: "the private key", ca: "the CA" };

export function checkBundle(bundle: Bundle, expected: Expected, now: number): Problem | undefined {
  const keys = expected.keys ?? plainWords;
  const parts = partsOf(bundle, keys);
  if (isProblem(parts)) return parts;
  const { chain, trusted } = parts;
  const [leaf] = chain;
  const signers = expected.signedBy === undefined ? trusted : certificatesIn(expected.signedBy);
  if (!signers) return unreadable(keys.ca, certificates);
  return (
    outOfDate(leaf, keys.cert, now) ??
    checkSigned(chain, signers, keys, expected.signedBy !== undefined, now) ??
    checkUse(leaf, expected.use, keys) ??
    checkNames(leaf, expected.names, keys)
  );
}

/** Whether it can be used for a handshake at all, whoever would trust it and for however long: undefined if it can. */
export function checkParts(bundle: Bundle, keys: KeyNames = plainWords): Problem | undefined {
  const parts = partsOf(bundle, keys);
  return isProblem(parts) ? parts : undefined;
}

interface Parts {
  readonly chain: readonly [X509Certificate, ...X509Certificate[]];
  readonly trusted: readonly X509Certificate[];
}

const certificates = "PEM certificates, beginning with -----BEGIN CERTIFICATE-----";

function partsOf({ ca, pair }: Bundle, keys: KeyNames): Parts | Problem {
  const chain = certificatesIn(pair.cert);
  const trusted = certificatesIn(ca);
  const key = readKey(pair.key);
  if (!chain) return unreadable(keys.cert, certificates);
  if (!key) return unreadable(keys.key, "a PEM private key without a passphrase");
  if (!trusted) return unreadable(keys.ca, certificates);
  if (!chain[0].checkPrivateKey(key))
    return {
      t: "mismatched",
      sentence: `${keys.key} does not belong to the first certificate in ${keys.cert}. Put in both as they were made together, the certificate of the member before those of intermediate CAs.`,
    };
  return { chain, trusted };
}

const unreadable = (key: string, wanted: string): Problem => ({
  t: "unreadable",
  sentence: `${key} cannot be read. It must hold ${wanted}.`,
});

function readKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function outOfDate(certificate: X509Certificate, where: string, now: number): Problem | undefined {
  const { validFromDate, validToDate } = certificate;
  if (now >= validToDate.getTime())
    return { t: "expired", sentence: `${where} expired at ${validToDate.toISOString()}. Put in a new one.` };
  if (now < validFromDate.getTime())
    return {
      t: "notYetValid",
      sentence: `${where} is valid from ${validFromDate.toISOString()} on. Put in one that is valid now, or check the clocks.`,
    };
  return undefined;
}

function checkSigned(
  chain: readonly [X509Certificate, ...X509Certificate[]],
  signers: readonly X509Certificate[],
  keys: KeyNames,
  byOtherSide: boolean,
  now: number,
): Problem | undefined {
  const isValid = (one: X509Certificate): boolean => outOfDate(one, "", now) === undefined;
  if (chainTo(signers, chain, isValid)) return undefined;
  const ca = byOtherSide ? "the CA that the other side trusts" : keys.ca;
  for (const one of chainTo(signers, chain)?.slice(1) ?? []) {
    const problem = outOfDate(one, chain.includes(one) ? `An intermediate CA in ${keys.cert}` : ca, now);
    if (problem) return problem;
  }
  return {
    t: "untrusted",
    sentence: `${keys.cert} is not signed by ${ca}. Put in a certificate of that CA with the intermediate CAs behind it, or add the CA that signed it.`,
  };
}

const anyUse = "2.5.29.37.0";
const serverAuth = { oid: "1.3.6.1.5.5.7.3.1", name: "server auth" };
const clientAuth = { oid: "1.3.6.1.5.5.7.3.2", name: "client auth" };
const needed = { server: [serverAuth], client: [clientAuth], both: [serverAuth, clientAuth] };

function checkUse(leaf: X509Certificate, use: Expected["use"], keys: KeyNames): Problem | undefined {
  // Extended key usages, whatever the name says. A certificate without any may be used for everything.
  const usages: readonly string[] | undefined = leaf.keyUsage;
  if (!usages || usages.includes(anyUse)) return undefined;
  const absent = needed[use].filter(({ oid }) => !usages.includes(oid)).map(({ name }) => name);
  if (absent.length === 0) return undefined;
  const who = { server: "A server", client: "A client", both: "A member, which is server and client to its peers," }[
    use
  ];
  return {
    t: "wrongUse",
    sentence: `${keys.cert} lacks the extended key usage ${listed(absent)}. ${who} needs ${listed(needed[use].map(({ name }) => name))}: have it made with that.`,
  };
}

function checkNames(leaf: X509Certificate, names: readonly string[], keys: KeyNames): Problem | undefined {
  const absent = namesNotCovered(leaf, names);
  if (absent.length === 0) return undefined;
  return {
    t: "wrongNames",
    sentence: `${keys.cert} does not cover ${listed(absent)}. Have it made with these as DNS names (subjectAltName); a wildcard stands for one label.`,
  };
}
