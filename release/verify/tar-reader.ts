// Reads a tar archive from memory, as far as those of a release go: files, folders and links with short names.

export interface TarEntry {
  readonly path: string;
  readonly mode: number;
  readonly is: "file" | "folder" | "link";
  readonly content: Buffer;
}

const block = 512;
const kinds: Readonly<Record<string, TarEntry["is"]>> = { "0": "file", "5": "folder", "2": "link" };

export function readTar(bytes: Buffer): TarEntry[] {
  const entries: TarEntry[] = [];
  for (let at = 0; at + block <= bytes.length; ) {
    const header = bytes.subarray(at, at + block);
    if (header.every((byte) => byte === 0)) break;
    const text = (from: number, length: number): string =>
      header
        .subarray(from, from + length)
        .toString()
        .replace(/\0.*$/s, "");
    const octal = (from: number, length: number): number => Number.parseInt(text(from, length).trim() || "0", 8);
    const is = kinds[text(156, 1)];
    const size = octal(124, 12);
    if (is === undefined || !Number.isSafeInteger(size) || at + block + size > bytes.length)
      throw new Error(`The archive is damaged, or of a kind that a release has not, at byte ${at}.`);
    entries.push({
      path: text(0, 100),
      mode: octal(100, 8),
      is,
      content: bytes.subarray(at + block, at + block + size),
    });
    at += block + Math.ceil(size / block) * block;
  }
  return entries;
}
