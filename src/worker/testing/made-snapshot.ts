// A snapshot for tests that need no etcd: pages, and the digest behind them.
import { createHash } from "node:crypto";

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export function madeSnapshot(pages = 16): Buffer {
  const database = Buffer.alloc(pages * 512, "page");
  return Buffer.concat([database, createHash("sha256").update(database).digest()]);
}
