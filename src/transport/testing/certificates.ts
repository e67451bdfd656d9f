// A throw-away certificate authority for tests that need real TLS: made in memory, with elliptic keys, in milliseconds.
import { webcrypto } from "node:crypto";
import type * as X509 from "@peculiar/x509";
import { loadX509 } from "../../tls/x509.ts";

export interface Pem {
  cert: string;
  key: string;
}

export interface TestAuthority extends Pem {
  /** Signs a certificate for these DNS names and addresses, fit for servers and clients. */
  issue(name: string, options?: { hosts?: string[]; organization?: string; expired?: boolean }): Promise<Pem>;
}

const keyAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const day = 86_400_000;

async function pemOf(
  x509: typeof X509,
  certificate: X509.X509Certificate,
  keys: webcrypto.CryptoKeyPair,
): Promise<Pem> {
  const key = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { cert: certificate.toString("pem"), key: x509.PemConverter.encode(key, "PRIVATE KEY") };
}

export async function createAuthority(name: string): Promise<TestAuthority> {
  const x509 = await loadX509();
  const keys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]);
  const subject = `CN=${name}`;
  const now = Date.now();
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    name: subject,
    keys,
    signingAlgorithm: keyAlgorithm,
    notBefore: new Date(now - 2 * day),
    notAfter: new Date(now + day),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });

  return {
    ...(await pemOf(x509, root, keys)),
    async issue(name, { hosts = [], organization, expired = false } = {}) {
      const leafKeys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]);
      const leaf = await x509.X509CertificateGenerator.create({
        subject: organization === undefined ? `CN=${name}` : `CN=${name}, O=${organization}`,
        issuer: subject,
        publicKey: leafKeys.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: keyAlgorithm,
        notBefore: new Date(now - 2 * day),
        notAfter: new Date(expired ? now - day : now + day),
        extensions: [
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
          new x509.SubjectAlternativeNameExtension(
            hosts.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? "ip" : "dns", value })),
          ),
        ],
      });
      return pemOf(x509, leaf, leafKeys);
    },
  };
}
