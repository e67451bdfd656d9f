// Checks signatures as cosign makes them, with the public key alone: ECDSA over P-256 and SHA-256, or what other key it is.
import { createPublicKey, createVerify, type KeyObject, verify } from "node:crypto";
import { Failure, insist } from "./failure.ts";

export function publicKey(pem: string, what: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch {
    throw new Failure(`${what} is not a public key.`);
  }
}

/** `signature` is in base64, and in one way only: other characters that decode to the same bytes are a change, too. */
export function insistSigned(content: Buffer, signature: string, key: KeyObject, what: string): void {
  const bytes = Buffer.from(signature, "base64");
  insist(bytes.toString("base64") === signature, `The signature of ${what} is not the one that was written.`);
  insist(
    isSigned(content, bytes, key),
    `The signature of ${what} is not valid: it is changed, or another key signed it.`,
  );
}

function isSigned(content: Buffer, signature: Buffer, key: KeyObject): boolean {
  try {
    if (key.asymmetricKeyType === "ed25519") return verify(null, content, key, signature);
    return createVerify("sha256").update(content).verify(key, signature);
  } catch {
    return false;
  }
}
