// Everything that the image and the kubectl plugin consist of.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { tree } from "../../lab/images/bundle.ts";
import { architectures, lockedPackage, packagedNode } from "../../lab/plugin/node-package.ts";
import { libraryCopyrights, libraryPackages } from "../image/libraries.ts";
import { type Component, idOf } from "./component.ts";
import { goComponents } from "./go.ts";
import { type BundleName, bundles, npmComponent, npmComponents } from "./npm.ts";

export async function componentsOf(version: string): Promise<Component[]> {
  return [
    ...(await ownComponents(version)),
    ...(await npmComponents()),
    ...(await nodeComponents()),
    ...(await libraryComponents()),
    ...(await goComponents()),
  ];
}

async function ownComponents(version: string): Promise<Component[]> {
  const license = await readFile(path.join(tree, "LICENSE"), "utf8");
  return (Object.keys(bundles) as BundleName[]).map((name) => ({
    id: name,
    name,
    version,
    purl: `pkg:generic/${name}@${version}`,
    license: "Apache-2.0",
    texts: [license],
    within: [],
  }));
}

async function nodeComponents(): Promise<Component[]> {
  const lock = await readFile(path.join(tree, "package-lock.json"), "utf8");
  return Promise.all(
    architectures.map(async (architecture) => {
      const name = `node-linux-${architecture === "amd64" ? "x64" : architecture}`;
      const { license } = await packagedNode(architecture);
      return npmComponent(
        name,
        { ...lockedPackage(lock, name), license: "MIT" },
        [await readFile(license, "utf8")],
        // The archives of the plugin have it, too.
        ["image", "kubectl-etcd"],
      );
    }),
  );
}

/** Debian states them in prose. */
const licenses: Readonly<Record<string, string>> = {
  libc6: "LGPL-2.1-or-later",
  "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
  "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
};

async function libraryComponents(): Promise<Component[]> {
  const components: Component[] = [];
  for (const architecture of architectures) {
    const copyrights = new Map((await libraryCopyrights(architecture)).map(({ name, text }) => [name, text]));
    for (const { name, version, sha256 } of libraryPackages) {
      const license = licenses[name];
      // gcc-12-base has the licences of the other two, and nothing that is in the image.
      if (license === undefined) continue;
      const text = copyrights.get(name) || copyrights.get("gcc-12-base") || "";
      components.push({
        id: idOf("deb", name.replaceAll("+", "p"), version, architecture),
        name,
        version,
        purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`,
        license,
        checksum: { algorithm: "SHA256", value: sha256[architecture] },
        texts: [text],
        within: [],
      });
    }
  }
  return components;
}
