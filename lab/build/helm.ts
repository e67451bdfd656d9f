// Helm, in both majors that people use, for tests of the chart. They are built from one module, so that they share most of
// their packages and the time to compile them.
import { writeFile } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt, type Recipe } from "./cache.ts";
import { goBuild, goMod, linkerFlags } from "./go.ts";
import { pinsFolder } from "./modules/pins.ts";

export const helmVersions = { helm3: "3.21.4", helm4: "4.2.4" } as const;
export type HelmName = keyof typeof helmVersions;

const packages = { helm3: "helm.sh/helm/v3", helm4: "helm.sh/helm/v4" } as const satisfies Record<HelmName, string>;

/** Without it Helm 3 takes itself for one of Kubernetes 1.20, and refuses charts for newer ones. Releases set it, too. */
const kubernetesMinor = ["pkg/chartutil", "pkg/lint/rules"].map(
  (pkg) => `-X ${packages.helm3}/${pkg}.k8sVersionMinor=36`,
);

const mod = goMod("helm", {
  [packages.helm3]: `v${helmVersions.helm3}`,
  [packages.helm4]: `v${helmVersions.helm4}`,
});

const flags: Readonly<Record<HelmName, string>> = {
  helm3: [linkerFlags, ...kubernetesMinor].join(" "),
  helm4: linkerFlags,
};

const version = Object.values(helmVersions).join("-");

const helmRecipe: Recipe = {
  name: "helm",
  version,
  ingredients: [mod, ...Object.values(flags)],
  async build(folder, step) {
    await writeFile(path.join(folder, "go.mod"), mod);
    for (const name of ["helm3", "helm4"] as const)
      await goBuild(
        {
          from: folder,
          package: `${packages[name]}/cmd/helm`,
          output: path.join(folder, name),
          linkerFlags: flags[name],
          pins: pinsFolder("helm", version),
        },
        step,
      );
  },
};

/** The paths of the programs. */
export async function ensureHelm(): Promise<Record<HelmName, string>> {
  const folder = await ensureBuilt(helmRecipe);
  return { helm3: path.join(folder, "helm3"), helm4: path.join(folder, "helm4") };
}
