// The form of an encrypted object. All numbers are big-endian; a reader in another language needs this table and no more.
//
// | part     | bytes | what                                                                                      |
// |----------|-------|-------------------------------------------------------------------------------------------|
// | magic    | 8     | "ETCDSEAL" in ASCII                                                                       |
// | format   | 1     | 1                                                                                         |
// | id size  | 1     | n, at least 1                                                                             |
// | key id   | n     | which key, in UTF-8: the name of its entry in the Secret                                  |
// | salt     | 32    | random for each object                                                                    |
// | chunk    | 4     | plain bytes of each chunk but the last, c; 1 KiB to 16 MiB, written as 1 MiB              |
// | check    | 8     | HKDF-SHA-256(key, salt, info "etcd-operator seal 1 key check"), first 8 bytes             |
// | chunks   |       | each: AES-256-GCM of c plain bytes, then its tag of 16 bytes                              |
// | end      | 8     | "LAESDCTE" in ASCII: an object without it was cut off; it is not what makes it authentic  |
//
// Everything before the chunks is the header; it is the additional data of each chunk. The key of the object is
// HKDF-SHA-256(key, salt, info "etcd-operator seal 1 object key"), 32 bytes. The nonce of a chunk is 12 bytes: its number,
// counted from 0, in 11 bytes, then 1 for the last chunk and 0 for others. There is always a last chunk; it has 1 to c plain
// bytes, or none if the object has none. So chunks can be neither changed, left out, exchanged nor cut off unnoticed.
import { hkdfSync, timingSafeEqual } from "node:crypto";
import { SealError } from "./errors.ts";
import type { SealKey } from "./key.ts";

export const magic: Buffer = Buffer.from("ETCDSEAL");
export const endMark: Buffer = Buffer.from("LAESDCTE");
const format = 1;
export const saltBytes = 32;
export const tagBytes = 16;
const checkBytes = 8;
export const chunkBytes: number = 1 << 20;
const smallestChunk = 1 << 10;
const largestChunk = 1 << 24;

export interface Header {
  readonly keyId: string;
  readonly salt: Buffer;
  readonly chunkBytes: number;
  readonly check: Buffer;
  /** As it is written. */
  readonly bytes: Buffer;
}

const derived = (key: SealKey, salt: Uint8Array, use: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync("sha256", key.bytes, salt, `etcd-operator seal 1 ${use}`, bytes));

export const objectKey = (key: SealKey, salt: Uint8Array): Buffer => derived(key, salt, "object key", 32);

export function isKeyOf(key: SealKey, { salt, check }: Header): boolean {
  return timingSafeEqual(derived(key, salt, "key check", checkBytes), check);
}

export function writeHeader(key: SealKey, salt: Uint8Array): Buffer {
  const id = Buffer.from(key.id);
  if (id.length === 0 || id.length > 255) throw new SealError("badKey", "The name of a key has 1 to 255 bytes.");
  const chunk = Buffer.alloc(4);
  chunk.writeUInt32BE(chunkBytes);
  const check = derived(key, salt, "key check", checkBytes);
  return Buffer.concat([magic, Buffer.from([format, id.length]), id, salt, chunk, check]);
}

const fixedBytes = magic.length + 2;
const afterId = saltBytes + 4 + checkBytes;

/** How many bytes the header has, as far as the first ten tell. */
export function headerBytes(first: Buffer): number {
  return fixedBytes + (first[magic.length + 1] ?? 0) + afterId;
}

export const firstBytes: number = fixedBytes;

export const isSealed = (first: Uint8Array): boolean => magic.equals(first.subarray(0, magic.length));

/** Takes exactly the header. */
export function readHeader(bytes: Buffer): Header {
  const id = bytes.subarray(fixedBytes, bytes.length - afterId);
  let at = bytes.length - afterId;
  const next = (count: number): Buffer => bytes.subarray(at, (at += count));
  const header = {
    keyId: id.toString("utf8"),
    salt: next(saltBytes),
    chunkBytes: next(4).readUInt32BE(),
    check: next(checkBytes),
    bytes,
  };
  if (header.chunkBytes < smallestChunk || header.chunkBytes > largestChunk)
    throw new SealError("tampered", "The header of the encrypted object is damaged: its size of chunks is impossible.");
  return header;
}

/** Of a format that this program reads. */
export function checkFormat(first: Buffer): void {
  const found = first[magic.length];
  if (found !== format)
    throw new SealError(
      "newerFormat",
      `The object is encrypted in format ${found}, and this version reads format ${format}. Use a newer operator.`,
    );
}

export function nonce(chunk: number, place: "last" | "before"): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64BE(BigInt(chunk), 3);
  bytes[11] = place === "last" ? 1 : 0;
  return bytes;
}

/** How long an object is when so many bytes are encrypted. */
export function sealedBytes(plain: number, keyId: string): number {
  const chunks = Math.max(1, Math.ceil(plain / chunkBytes));
  return fixedBytes + Buffer.byteLength(keyId) + afterId + plain + chunks * tagBytes + endMark.length;
}
