// The libraries that Node loads, from Debian's packages of the versions and hashes in libraries.json, for either architecture.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt } from "../../lab/build/cache.ts";
import { program } from "../../lab/images/programs.ts";
import type { Entry } from "../../lab/images/tar.ts";
import { run } from "../../lab/machine/command.ts";
import type { Architecture } from "../../lab/plugin/node-package.ts";
import { withMirror } from "./debian.ts";
import lock from "./libraries.json" with { type: "json" };

export interface LibraryPackage {
  readonly name: string;
  readonly version: string;
  /** Hash of the package, by architecture. */
  readonly sha256: Readonly<Record<Architecture, string>>;
}

export const libraryPackages: readonly LibraryPackage[] = lock.packages;

const triplets: Readonly<Record<Architecture, string>> = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };

/** Where a program says that its loader is. */
const loaders: Readonly<Record<Architecture, string>> = {
  amd64: "lib64/ld-linux-x86-64.so.2",
  arm64: "lib/ld-linux-aarch64.so.1",
};

/** What Node names, and what those name: test/release holds it against the programs. */
export const libraries: Readonly<Record<string, readonly string[]>> = {
  libc6: ["libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0"],
  "libgcc-s1": ["libgcc_s.so.1"],
  "libstdc++6": ["libstdc++.so.6"],
};

/** The packages, unpacked into a folder each. */
export function ensureLibraries(architecture: Architecture): Promise<string> {
  return ensureBuilt({
    name: "release-libraries",
    version: architecture,
    ingredients: libraryPackages.flatMap(({ name, version, sha256 }) => [name, version, sha256[architecture]]),
    build: (folder, step) =>
      withMirror(architecture, async ({ offers, download }) => {
        for (const { name, version, sha256 } of libraryPackages) {
          step.detail(`downloading ${name} ${version}`);
          const offered = (await offers(name)).map((one) => one.version);
          if (!offered.includes(version)) throw new Error(gone(name, version, architecture, offered));
          const fetched = path.join(folder, "fetched");
          await mkdir(fetched);
          await download(name, version, fetched);
          const [file = ""] = await readdir(fetched);
          const deb = path.join(fetched, file);
          const found = createHash("sha256")
            .update(await readFile(deb))
            .digest("hex");
          if (found !== sha256[architecture])
            throw new Error(
              `Debian gave another ${name} ${version} for ${architecture} than libraries.json names: ${found}.`,
            );
          await run("dpkg-deb", ["-x", deb, path.join(folder, name)]);
          await rm(fetched, { recursive: true });
        }
      }),
  });
}

export const gone = (name: string, version: string, architecture: string, offered: readonly string[]): string =>
  `The package sources of this machine no longer have ${name} ${version} for ${architecture}; they have ${offered.join(", ") || "none"}. ` +
  "For a new release, run `node release/image/pin-libraries.ts`, and commit libraries.json. " +
  "To make an old release again, add the snapshot archive of Debian of its day to the sources of apt.";

/** As the image has them: each under the name by which it is loaded. */
export async function libraryEntries(architecture: Architecture): Promise<Entry[]> {
  const folder = await ensureLibraries(architecture);
  const triplet = triplets[architecture];
  const entries: Entry[] = [];
  for (const [pkg, names] of Object.entries(libraries))
    for (const name of names)
      entries.push(program(`lib/${triplet}/${name}`, await found(path.join(folder, pkg), triplet, name)));
  const loader = path.basename(loaders[architecture]);
  entries.push(program(loaders[architecture], await found(path.join(folder, "libc6"), triplet, loader)));
  return entries;
}

/** Debian is between two places for libraries. */
async function found(folder: string, triplet: string, name: string): Promise<string> {
  for (const place of ["lib", "usr/lib"]) {
    const names = await readdir(path.join(folder, place, triplet)).catch((): string[] => []);
    if (names.includes(name)) return path.join(folder, place, triplet, name);
  }
  throw new Error(`${path.basename(folder)} has no ${name}.`);
}

/** What each package says of its licences. */
export async function libraryCopyrights(architecture: Architecture): Promise<{ name: string; text: string }[]> {
  const folder = await ensureLibraries(architecture);
  return Promise.all(
    libraryPackages.map(async ({ name }) => ({
      name,
      // libgcc-s1 and libstdc++6 share theirs with the package gcc-12-base: a link that leads nowhere here.
      text: await readFile(path.join(folder, name, "usr/share/doc", name, "copyright"), "utf8").catch(() => ""),
    })),
  );
}
