// The bill of materials, and the licences.
import { writeFile } from "node:fs/promises";
import * as path from "node:path";
import { names } from "../names.ts";
import type { Part } from "../part.ts";
import { componentsOf } from "./components.ts";
import { licensesOf } from "./licenses.ts";
import { spdxOf } from "./spdx.ts";

export const sbom: Part = {
  name: "bill of materials",
  async make(release) {
    const components = await componentsOf(release.version);
    const { sbom: file, licenses } = names(release.version);
    await writeFile(path.join(release.folder, file), `${JSON.stringify(spdxOf(release, components), undefined, 2)}\n`);
    await writeFile(path.join(release.folder, licenses), licensesOf(components));
    return [file, licenses];
  },
};
