// When certificates begin and end to be valid, when that is worth a warning, and when the operator renews its own.
import { certificatesIn } from "./pem.ts";

const day = 86_400_000;

/** In ms since 1970, of the certificate in the text that expires first. NaN when it cannot be read. */
export function expiryOf(pem: string): number {
  return Math.min(...(certificatesIn(pem) ?? []).map(({ validToDate }) => validToDate.getTime()).concat(readable(pem)));
}

const readable = (pem: string): number => (certificatesIn(pem) ? Number.POSITIVE_INFINITY : Number.NaN);

/** In ms since 1970. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** The validity of the certificate in the text that expires first; undefined when it cannot be read. */
export function validityOf(pem: string): Validity | undefined {
  const [first] = (certificatesIn(pem) ?? []).toSorted((a, b) => a.validToDate.getTime() - b.validToDate.getTime());
  return first && { notBefore: first.validFromDate.getTime(), notAfter: first.validToDate.getTime() };
}

/** Named after what is left at most. */
export type ExpiryWarning = "30d" | "7d" | "1d" | "expired";

/**
 * From how much that is left on there is a warning: this many days, and not more than this share of its life. One of 24 hours
 * is renewed with eight of them left, so there is a warning with 6 h left, not all the time. Alerts go by the same table.
 */
export const warnings: readonly { readonly at: "30d" | "7d" | "1d"; readonly days: number; readonly share: number }[] =
  [
    { at: "1d", days: 1, share: 1 / 20 },
    { at: "7d", days: 7, share: 1 / 10 },
    { at: "30d", days: 30, share: 1 / 4 },
  ];

export function warningOf({ notBefore, notAfter }: Validity, now: number): ExpiryWarning | undefined {
  const left = notAfter - now;
  if (left <= 0) return "expired";
  return warnings.find(({ days, share }) => left <= Math.min(days * day, (notAfter - notBefore) * share))?.at;
}

/** Two thirds of the life of the first certificate in the text. One that cannot be read is due at once. */
export function renewAt(certPem: string): number {
  const leaf = certificatesIn(certPem)?.[0];
  if (!leaf) return 0;
  const begin = leaf.validFromDate.getTime();
  return begin + ((leaf.validToDate.getTime() - begin) * 2) / 3;
}

/** Until when one in use may wait for its successor: a sixth of its life is left for the change. */
export function replaceBy(certPem: string): number {
  const leaf = certificatesIn(certPem)?.[0];
  if (!leaf) return 0;
  const end = leaf.validToDate.getTime();
  return end - (end - leaf.validFromDate.getTime()) / 6;
}
