// Which DNS names a certificate covers, as TLS clients see it: a wildcard stands for exactly one label.
import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";

/** The names that the certificate does not cover. A name may be a wildcard itself: "all members of this Service". */
export function namesNotCovered(certificate: X509Certificate, names: readonly string[]): string[] {
  const alternatives = dnsNamesOf(certificate);
  return names.filter((name) =>
    isIP(name) === 0
      ? !alternatives.some((alternative) => covers(alternative, name))
      : certificate.checkIP(name) === undefined,
  );
}

/** DNS names and addresses, as a certificate with the same ones would be asked for. */
export function namesOf(certificate: X509Certificate): string[] {
  const addresses = (certificate.subjectAltName ?? "").matchAll(/(?:^|, )IP Address:([^,]*)/g);
  return [...dnsNamesOf(certificate), ...[...addresses].map(([, address = ""]) => address)];
}

/** The common name does not count: no TLS library of this decade reads it. */
function dnsNamesOf(certificate: X509Certificate): string[] {
  // Node writes `DNS:a, IP Address:b`, and a value that has a comma or a quote in it as a JSON string.
  const entries = (certificate.subjectAltName ?? "").matchAll(/(?:^|, )DNS:("(?:[^"\\]|\\.)*"|[^,]*)/g);
  return [...entries].map(([, name = ""]) => name);
}

function covers(alternative: string, name: string): boolean {
  const [pattern, wanted] = [normal(alternative), normal(name)];
  if (pattern === wanted) return true;
  if (!pattern.startsWith("*.")) return false;
  const dot = wanted.indexOf(".");
  return dot > 0 && wanted.slice(dot) === pattern.slice(1);
}

const normal = (name: string): string => name.toLowerCase().replace(/\.$/, "");
