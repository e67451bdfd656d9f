// The npm packages that are in the bundles: what esbuild put into them, with the versions and hashes of package-lock.json.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { bundleOf, tree } from "../../lab/images/bundle.ts";
import { type Component, idOf } from "./component.ts";

/** The programs of the release that are bundles, by what they start with. */
export const bundles = {
  "etcd-operator": "src/main.ts",
  "etcd-worker": "src/worker/program/main.ts",
  "kubectl-etcd": "src/plugin/main.ts",
} as const;
export type BundleName = keyof typeof bundles;

interface Locked {
  readonly version: string;
  readonly integrity: string;
  readonly license?: string;
}

export async function npmComponents(): Promise<Component[]> {
  const lock = lockedPackages(await readFile(path.join(tree, "package-lock.json"), "utf8"));
  const places = new Map<string, BundleName[]>();
  const folder = await mkdtemp(path.join(tmpdir(), "release-sbom-"));
  try {
    for (const [name, entry] of Object.entries(bundles) as [BundleName, string][])
      for (const place of packagesIn(await bundleOf(entry, path.join(folder, name))))
        places.set(place, [...(places.get(place) ?? []), name]);
  } finally {
    await rm(folder, { recursive: true });
  }
  return merged(
    await Promise.all([...places].sort(byFirst).map(([place, within]) => componentAt(place, within, lock))),
  );
}

/** A package of one version may be in several places. */
function merged(components: readonly Component[]): Component[] {
  const byId = new Map<string, Component>();
  for (const component of components) {
    const within = [...new Set([...(byId.get(component.id)?.within ?? []), ...component.within])].sort();
    byId.set(component.id, { ...component, within });
  }
  return [...byId.values()];
}

const byFirst = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

/** The places of packages below the tree, as in node_modules/a/node_modules/@b/c. */
export function packagesIn(files: readonly string[]): string[] {
  const places = files.flatMap((file) => {
    const below = file.slice(Math.max(0, file.indexOf("node_modules/")));
    const place = /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(below)?.[0];
    return place === undefined ? [] : [place];
  });
  return [...new Set(places)].sort();
}

export function lockedPackages(text: string): ReadonlyMap<string, Locked> {
  const { packages } = JSON.parse(text) as { packages: Record<string, Partial<Locked>> };
  return new Map(
    Object.entries(packages).flatMap(([place, { version, integrity, license }]) =>
      version === undefined || integrity === undefined
        ? []
        : [[place, { version, integrity, ...(license === undefined ? {} : { license }) }] as const],
    ),
  );
}

async function componentAt(
  place: string,
  within: readonly string[],
  lock: ReadonlyMap<string, Locked>,
): Promise<Component> {
  const locked = lock.get(place);
  if (locked === undefined) throw new Error(`${place} is in a bundle, and not in package-lock.json.`);
  const name = place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
  return npmComponent(name, locked, await licenseTexts(path.join(tree, place)), within);
}

export function npmComponent(
  name: string,
  { version, integrity, license }: Locked,
  texts: readonly string[],
  within: readonly string[],
): Component {
  const purlName = name.replace(/^@/, "%40");
  return {
    id: idOf("npm", name, version),
    name,
    version,
    purl: `pkg:npm/${purlName}@${version}`,
    ...(license === undefined ? {} : { license }),
    checksum: sha512Of(integrity),
    texts,
    within,
  };
}

function sha512Of(integrity: string): { algorithm: "SHA512"; value: string } {
  const [algorithm, base64] = integrity.split("-");
  if (algorithm !== "sha512" || base64 === undefined) throw new Error(`${integrity} is not a SHA-512.`);
  return { algorithm: "SHA512", value: Buffer.from(base64, "base64").toString("hex") };
}

/** In the order of their names. */
export async function licenseTexts(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|copying|notice|copyright)/i.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), "utf8").catch(() => "")));
  return texts.filter((text) => text.trim() !== "");
}
