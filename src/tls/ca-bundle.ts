// Arithmetic on CA bundles: PEM texts with one or several certificates, whose order means nothing.
import { createHash, type X509Certificate } from "node:crypto";
import { chainTo } from "./chain.ts";
import { certificatesIn } from "./pem.ts";
import { remembered } from "./remembered.ts";

/**
 * Short, and equal for bundles that trust the same certificates in whatever order and with whatever text between them.
 * A text that cannot be read gets that of its bytes, which equals no other.
 */
export function bundleFingerprint(ca: string): string {
  const trusted = certificatesIn(ca);
  const hash = createHash("sha256");
  if (trusted) for (const fingerprint of [...fingerprints(trusted)].sort()) hash.update(fingerprint);
  else hash.update("unreadable").update(ca);
  return hash.digest("hex").slice(0, 16);
}

/** All of the first, then those of the second that are not in the first. */
export function addToBundle(ca: string, more: string): string {
  const seen = new Set<string>();
  const all = [...(certificatesIn(ca) ?? []), ...(certificatesIn(more) ?? [])];
  return all
    .filter(({ fingerprint256 }) => !seen.has(fingerprint256) && seen.add(fingerprint256))
    .map((certificate) => certificate.toString())
    .join("");
}

/** Whether all certificates of `of` are in `ca`. */
export function includes(ca: string, of: string): boolean {
  const trusted = fingerprints(certificatesIn(ca) ?? []);
  const wanted = certificatesIn(of);
  return wanted !== undefined && wanted.every(({ fingerprint256 }) => trusted.has(fingerprint256));
}

const fingerprints = (certificates: readonly X509Certificate[]): Set<string> =>
  new Set(certificates.map(({ fingerprint256 }) => fingerprint256));

/**
 * Which keys of the bundle stand behind a certificate: equal for all that the same CA signed, also after the CA's own
 * certificate was renewed with its key. Undefined when none does. Validity in time does not count.
 */
export function signerOf(cert: string, ca: string): string | undefined {
  return findSigner(cert, ca);
}

const findSigner = remembered((cert = "", ca = ""): string | undefined => {
  const chain = certificatesIn(cert);
  if (!chain) return undefined;
  const anchors = (certificatesIn(ca) ?? []).filter((anchor) => chainTo([anchor], chain));
  if (anchors.length === 0) return undefined;
  const keys = anchors.map(({ publicKey }) => publicKey.export({ type: "spki", format: "der" }).toString("hex"));
  return createHash("sha256")
    .update([...new Set(keys)].sort().join(" "))
    .digest("hex")
    .slice(0, 16);
});

/** The CAs of a bundle by their keys, in a form that can be written on a pod: what it read may be in no Secret any more. */
export function anchorsIn(ca: string): string {
  const keys = (certificatesIn(ca) ?? []).map(keyOf);
  return [...new Set(keys)].sort().join(".");
}

/** Whether who trusts these anchors takes a certificate, of which `ca` holds the signer. Validity in time does not count. */
export function isAnchored(cert: string, ca: string, anchors: string): boolean {
  const trusted = new Set(anchors.split("."));
  return signingKeys(cert, ca).some((key) => trusted.has(key));
}

/** The keys of the CAs behind a certificate, its own intermediates included; none: they are not known. */
const signingKeys = remembered((cert = "", ca = ""): readonly string[] => {
  const chain = certificatesIn(cert);
  if (!chain) return [];
  const anchors = (certificatesIn(ca) ?? []).filter((anchor) => chainTo([anchor], chain));
  return anchors.length === 0 ? [] : [...anchors, ...chain.slice(1)].map(keyOf);
});

const keyOf = ({ publicKey }: X509Certificate): string =>
  createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("hex")
    .slice(0, 12);
