// SHA-256 for the signatures of S3 requests. A part of an upload is hashed on another thread, so that the next one comes in
// meanwhile; what is small, and what is keyed, at once.
import { createHash, createHmac, type Hash, type Hmac, webcrypto } from "node:crypto";

type Data = string | ArrayBuffer | ArrayBufferView;

/** From here on a thread is worth its while. */
export const large = 1024 * 1024;

export class PayloadHash {
  readonly #secret: Uint8Array | undefined;
  #hash: Hash | Hmac;
  #parts = 0;
  #only: Buffer | undefined;

  constructor(secret?: Data) {
    this.#secret = secret === undefined ? undefined : bytesOf(secret);
    this.#hash = this.#begin();
  }

  update(data: Data): void {
    const bytes = bytesOf(data);
    if (this.#parts === 0 && this.#secret === undefined && bytes.length >= large) this.#only = bytes;
    else this.#hash.update(this.#settled()).update(bytes);
    this.#parts += 1;
  }

  async digest(): Promise<Uint8Array> {
    if (this.#only === undefined) return this.#hash.digest();
    return new Uint8Array(await webcrypto.subtle.digest("SHA-256", this.#only));
  }

  reset(): void {
    this.#hash = this.#begin();
    this.#parts = 0;
    this.#only = undefined;
  }

  /** A large first piece was not the only one after all. */
  #settled(): Uint8Array {
    const first = this.#only ?? new Uint8Array(0);
    this.#only = undefined;
    return first;
  }

  #begin(): Hash | Hmac {
    return this.#secret === undefined ? createHash("sha256") : createHmac("sha256", this.#secret);
  }
}

function bytesOf(data: Data): Buffer<ArrayBuffer> {
  if (typeof data === "string") return Buffer.from(data);
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  return Buffer.from(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
}
