// Whether a certificate is signed by a CA of a bundle, directly or through the intermediates that come with it.
import type { X509Certificate } from "node:crypto";

/**
 * The certificates from the leaf to a trusted one, both included. As etcd sees it (Go): every certificate of the bundle
 * is trusted as it stands, be it a root or an intermediate, as long as it is valid. `counts` says which may be used.
 */
export function chainTo(
  trusted: readonly X509Certificate[],
  [leaf, ...intermediates]: readonly [X509Certificate, ...X509Certificate[]],
  counts: (certificate: X509Certificate) => boolean = () => true,
): readonly X509Certificate[] | undefined {
  const anchors = trusted.filter(counts);
  const between = intermediates.filter((one) => one.ca && counts(one));
  const climb = (from: X509Certificate, path: readonly X509Certificate[]): readonly X509Certificate[] | undefined => {
    if (anchors.some(({ fingerprint256 }) => fingerprint256 === from.fingerprint256)) return path;
    const anchor = anchors.find((one) => hasSigned(one, from));
    if (anchor) return [...path, anchor];
    for (const next of between)
      if (!path.includes(next) && hasSigned(next, from)) {
        const found = climb(next, [...path, next]);
        if (found) return found;
      }
    return undefined;
  };
  return counts(leaf) ? climb(leaf, [leaf]) : undefined;
}

/** A key of a kind that OpenSSL does not know has signed nothing that it could check. */
function hasSigned(issuer: X509Certificate, subject: X509Certificate): boolean {
  try {
    return issuer.ca && subject.checkIssued(issuer) && subject.verify(issuer.publicKey);
  } catch {
    return false;
  }
}
