// Pins the newest versions of the libraries that Debian has for every architecture: `node release/image/pin-libraries.ts`.
import { writeFile } from "node:fs/promises";
import * as path from "node:path";
import { architectures } from "../../lab/plugin/node-package.ts";
import { withMirror } from "./debian.ts";

/** gcc-12-base is not in the image: it has the licences of the other two. */
const names = ["libc6", "libgcc-s1", "libstdc++6", "gcc-12-base"];
const pinned = new Map<string, { version: string; sha256: Record<string, string> }>();

for (const architecture of architectures)
  await withMirror(architecture, async ({ offers }) => {
    for (const name of names) {
      const [newest] = await offers(name);
      if (newest === undefined)
        throw new Error(`The package sources of this machine have no ${name} for ${architecture}.`);
      const one = pinned.get(name) ?? { version: newest.version, sha256: {} };
      if (one.version !== newest.version)
        throw new Error(`${name} has other versions for ${architecture}: ${newest.version}, not ${one.version}.`);
      one.sha256[architecture] = newest.sha256;
      pinned.set(name, one);
    }
  });

const lock = { packages: [...pinned].map(([name, one]) => ({ name, ...one })) };
await writeFile(path.join(import.meta.dirname, "libraries.json"), `${JSON.stringify(lock, undefined, 2)}\n`);
