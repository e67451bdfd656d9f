// The files that a program needs in an image that has nothing else: itself and, if it is linked dynamically, the libraries
// that this machine would load.
import { open } from "node:fs/promises";
import { run } from "../machine/command.ts";
import type { Entry } from "./tar.ts";

export const inImage = (file: string): string => file.replace(/^\//, "");

export const program = (at: string, of: string): Entry => ({ is: "copy", path: inImage(at), mode: 0o755, of });

/** The libraries of all programs, each once, at the paths where the loader looks for them. */
export async function librariesOf(files: readonly string[]): Promise<Entry[]> {
  const libraries = new Set<string>();
  for (const file of files)
    if (await isDynamic(file)) for (const library of libraryPaths(await run("ldd", [file]))) libraries.add(library);
  return [...libraries].sort().map((library) => program(library, library));
}

/** The files that ldd names: `libc.so.6 => /lib/…/libc.so.6 (0x…)` and the loader, `/lib64/ld-linux… (0x…)`. */
export function libraryPaths(ldd: string): string[] {
  const missing = /^\s*(\S+) => not found/m.exec(ldd)?.[1];
  if (missing !== undefined) throw new Error(`The library ${missing} is missing on this machine.`);
  return [...ldd.matchAll(/(?:^\s*|=> )(\/\S+) \(0x/gm)].flatMap(([, file]) => (file === undefined ? [] : [file]));
}

const interpreterSegment = 3;

/** A dynamic program names its loader in an ELF segment; a static one has no such segment. */
async function isDynamic(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0);
    if (bytesRead < 64 || buffer.readUInt32BE(0) !== 0x7f454c46 || buffer[4] !== 2 || buffer[5] !== 1)
      throw new Error(`${file} is not a 64-bit ELF program.`);
    const table = Number(buffer.readBigUInt64LE(32));
    const size = buffer.readUInt16LE(54);
    const count = buffer.readUInt16LE(56);
    if (table + size * count > bytesRead) throw new Error(`${file} has its program headers at an unusual place.`);
    return Array.from({ length: count }, (_, i) => buffer.readUInt32LE(table + i * size)).includes(interpreterSegment);
  } finally {
    await handle.close();
  }
}

/** What every image has: /tmp, and names for its users. */
export const basics: readonly Entry[] = [
  { is: "folder", path: "tmp", mode: 0o1777 },
  {
    is: "text",
    path: "etc/passwd",
    mode: 0o644,
    text: "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n",
  },
  { is: "text", path: "etc/group", mode: 0o644, text: "root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n" },
  { is: "text", path: "etc/nsswitch.conf", mode: 0o644, text: "hosts: files dns\n" },
];

export const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
