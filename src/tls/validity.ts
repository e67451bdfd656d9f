// When certificates begin and end to be valid, when that is worth a warning, and when one that was made is made anew.
import { certificatesIn } from "./pem.ts";

const day = 86_400_000;

/** In ms since 1970, of the certificate in the text that expires first. NaN when it cannot be read. */
export function expiryOf(pem: string): number {
  return Math.min(...(certificatesIn(pem) ?? []).map(({ validToDate }) => validToDate.getTime()).concat(readable(pem)));
}

const readable = (pem: string): number => (certificatesIn(pem) ? Number.POSITIVE_INFINITY : Number.NaN);

export type ExpiryWarning = "30d" | "7d" | "1d" | "expired";

export function warningOf(expiry: number, now: number): ExpiryWarning | undefined {
  const left = expiry - now;
  if (left <= 0) return "expired";
  if (left <= day) return "1d";
  if (left <= 7 * day) return "7d";
  return left <= 30 * day ? "30d" : undefined;
}

/** Two thirds of the life of the first certificate in the text. One that cannot be read is due at once. */
export function renewAt(certPem: string): number {
  const leaf = certificatesIn(certPem)?.[0];
  if (!leaf) return 0;
  const begin = leaf.validFromDate.getTime();
  return begin + ((leaf.validToDate.getTime() - begin) * 2) / 3;
}
