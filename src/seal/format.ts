// The form of an encrypted object. All numbers are big-endian; a reader in another language needs this table and no more.
//
// | part     | bytes | what                                                                                      |
// |----------|-------|-------------------------------------------------------------------------------------------|
// | magic    | 8     | "ETCDSEAL" in ASCII                                                                       |
// | format   | 1     | f: 2; 1 in objects of earlier versions                                                    |
// | id size  | 1     | n, at least 1                                                                             |
// | of size  | 2     | m; format 1 has neither this nor the next but one                                         |
// | key id   | n     | which key, in UTF-8: the name of its entry in the Secret                                  |
// | of       | m     | what the object is a copy of, as JSON in UTF-8: see below                                 |
// | salt     | 32    | random for each object                                                                    |
// | chunk    | 4     | plain bytes of each chunk but the last, c; 1 KiB to 16 MiB, written as 1 MiB              |
// | check    | 8     | HKDF-SHA-256(key, salt, info "etcd-operator seal f key check"), first 8 bytes             |
// | chunks   |       | each: AES-256-GCM of c plain bytes, then its tag of 16 bytes                              |
// | end      | 8     | "LAESDCTE" in ASCII: an object without it was cut off; it is not what makes it authentic  |
//
// Everything before the chunks is the header; it is the additional data of each chunk. The key of the object is
// HKDF-SHA-256(key, salt, info "etcd-operator seal f object key"), 32 bytes, with the format for f. The nonce of a chunk is
// 12 bytes: its number, counted from 0, in 11 bytes, then 1 for the last chunk and 0 for others. There is always a last chunk;
// it has 1 to c plain bytes, or none if the object has none. So chunks can be neither changed, left out, swapped nor cut
// off unnoticed.
//
// `of` is an object with these fields, of which only `key` is always there. A reader ignores others, compares `key` with the
// name that it asked for, and trusts none of them before the first chunk has proved to be authentic.
//
// | field      | what                                                                     |
// |------------|--------------------------------------------------------------------------|
// | key        | the key of the object in its store, without the bucket                   |
// | clusterId  | etcd's id of the cluster                                                 |
// | cluster    | the EtcdCluster: an object with `namespace`, `name` and `uid`            |
// | revision   | a number: everything up to this revision of etcd is in the object        |
// | takenAt    | when the run began that took the backup, as in 2026-01-31T12:00:00.000Z  |
// | snapshotAt | when etcd had taken the snapshot, at the latest, in the same form        |
import { hkdfSync, timingSafeEqual } from "node:crypto";
import { SealError } from "./errors.ts";
import type { SealKey } from "./key.ts";
import { readOf, type SealedOf, writeOf } from "./sealed-of.ts";

const magic: Buffer = Buffer.from("ETCDSEAL");
export const endMark: Buffer = Buffer.from("LAESDCTE");
/** The one that is written. */
const newest = 2;
/** Bound to nothing: objects of earlier versions, which stay readable. */
const unbound = 1;
type Format = typeof newest | typeof unbound;
export const saltBytes = 32;
export const tagBytes = 16;
const checkBytes = 8;
export const chunkBytes: number = 1 << 20;
const smallestChunk = 1 << 10;
const largestChunk = 1 << 24;

export interface Header {
  readonly format: Format;
  readonly keyId: string;
  /** Undefined in format 1. */
  readonly of: SealedOf | undefined;
  readonly salt: Buffer;
  readonly chunkBytes: number;
  readonly check: Buffer;
  /** As it is written. */
  readonly bytes: Buffer;
}

type Salted = Pick<Header, "format" | "salt">;

const derived = (key: SealKey, { format, salt }: Salted, use: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync("sha256", key.bytes, salt, `etcd-operator seal ${format} ${use}`, bytes));

export const objectKey = (key: SealKey, header: Salted): Buffer => derived(key, header, "object key", 32);

export function isKeyOf(key: SealKey, header: Header): boolean {
  return timingSafeEqual(derived(key, header, "key check", checkBytes), header.check);
}

export function makeHeader(key: SealKey, of: SealedOf, salt: Buffer): Header {
  const id = Buffer.from(key.id);
  if (id.length === 0 || id.length > 255) throw new SealError("badKey", "The name of a key has 1 to 255 bytes.");
  const written = writeOf(of);
  const sizes = Buffer.alloc(4);
  sizes[0] = newest;
  sizes[1] = id.length;
  // Throws where it is too long, which the longest key of a store is far from.
  sizes.writeUInt16BE(written.length, 2);
  const chunk = Buffer.alloc(4);
  chunk.writeUInt32BE(chunkBytes);
  const check = derived(key, { format: newest, salt }, "key check", checkBytes);
  const bytes = Buffer.concat([magic, sizes, id, written, salt, chunk, check]);
  return { format: newest, keyId: key.id, of, salt, chunkBytes, check, bytes };
}

/** What stands before the key id, by format. */
const beforeId: Readonly<Record<Format, number>> = { [unbound]: magic.length + 2, [newest]: magic.length + 4 };
const afterOf = saltBytes + 4 + checkBytes;

/** This many bytes tell how long the header is; no object of either format has fewer. */
export const firstBytes: number = beforeId[newest];

interface Sizes {
  readonly format: Format;
  readonly id: number;
  readonly of: number;
}

function sizesIn(first: Buffer): Sizes {
  const format = formatOf(first);
  const id = first[magic.length + 1] ?? 0;
  return { format, id, of: format === newest ? first.readUInt16BE(magic.length + 2) : 0 };
}

/** How many bytes the header has, by the first ones. Throws where its format is not known. */
export function headerBytes(first: Buffer): number {
  const { format, id, of } = sizesIn(first);
  return beforeId[format] + id + of + afterOf;
}

export const isSealed = (first: Uint8Array): boolean => magic.equals(first.subarray(0, magic.length));

/** Takes exactly the header. */
export function readHeader(bytes: Buffer): Header {
  const sizes = sizesIn(bytes);
  let at = beforeId[sizes.format];
  const next = (count: number): Buffer => bytes.subarray(at, (at += count));
  const keyId = next(sizes.id).toString("utf8");
  const of = sizes.format === newest ? readOf(next(sizes.of)) : undefined;
  const header = {
    format: sizes.format,
    keyId,
    of,
    salt: next(saltBytes),
    chunkBytes: next(4).readUInt32BE(),
    check: next(checkBytes),
    bytes,
  };
  if (header.chunkBytes < smallestChunk || header.chunkBytes > largestChunk)
    throw damagedHeader("its size of chunks is impossible");
  if (sizes.format === newest && of === undefined) throw damagedHeader("it does not say what the object is a copy of");
  return header;
}

const damagedHeader = (why: string): SealError =>
  new SealError("tampered", `The header of the encrypted object is damaged: ${why}. Use another backup.`);

function formatOf(first: Buffer): Format {
  const found = first[magic.length];
  if (found === newest || found === unbound) return found;
  throw new SealError(
    "newerFormat",
    `The object is encrypted in format ${found}, and this version reads formats up to ${newest}. Use a newer operator.`,
  );
}

export function nonce(chunk: number, place: "last" | "before"): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64BE(BigInt(chunk), 3);
  bytes[11] = place === "last" ? 1 : 0;
  return bytes;
}

/** How long an object is when this many bytes are encrypted. Without `of`: at most, whatever it is a copy of. */
export function sealedBytes(plain: number, keyId: string, of?: SealedOf): number {
  const chunks = Math.max(1, Math.ceil(plain / chunkBytes));
  const header = beforeId[newest] + Buffer.byteLength(keyId) + (of ? writeOf(of).length : 0xffff) + afterOf;
  return header + plain + chunks * tagBytes + endMark.length;
}
