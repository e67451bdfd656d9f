// Builds Kubernetes as one program for all components: six separate ones would need six times the linking and disk.
import { readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { UsageError } from "../config.ts";
import { exists, type Recipe } from "./cache.ts";
import { goBuild, goModule, goSource, linkerFlags } from "./go.ts";
import { pinsFolder } from "./modules/pins.ts";

export const kubernetesComponents = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
  "kubectl",
] as const;

/** The file of the program. Links to it with the names of components are the components. */
export const kubernetesProgram = "kubernetes";

interface Release {
  readonly major: string;
  readonly minor: string;
  readonly patch: string;
}

function release(version: string): Release {
  const [, major, minor, patch] = /^(1)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  if (major === undefined || minor === undefined || patch === undefined)
    throw new UsageError(`The Kubernetes version "${version}" must look like 1.34.4.`);
  return { major, minor, patch };
}

/**
 * k8s.io/kubernetes takes its libraries from its own repository (`k8s.io/api => ./staging/src/k8s.io/api`), and its module
 * lacks them. Each is also published as a module v0.MINOR.PATCH; we use those.
 */
export function kubernetesGoMod(version: string, upstream: string): string {
  const { minor, patch } = release(version);
  const staged = [...upstream.matchAll(/^\s*(?:replace\s+)?(k8s\.io\/\S+) => \.\/staging\//gm)].map(([, name]) => name);
  if (staged.length === 0)
    throw new Error(`The go.mod of Kubernetes ${version} replaces no library: it changed shape.`);
  const kept = [...upstream.matchAll(/^(?:go|godebug) .*$/gm)].map(([line]) => line);
  return [
    "module lab/kubernetes",
    ...kept,
    `require k8s.io/kubernetes v${version}`,
    ...staged.map((name) => `replace ${name} => ${name} v0.${minor}.${patch}`),
    "",
  ].join("\n");
}

function kubernetesLinkerFlags(version: string): string {
  const { major, minor } = release(version);
  const facts = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const flags = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((pkg) =>
    Object.entries(facts).map(([name, value]) => `-X ${pkg}.${name}=${value}`),
  );
  return [linkerFlags, ...flags].join(" ");
}

export async function kubernetesRecipe(version: string): Promise<Recipe> {
  const main = await goSource("kubernetes");
  const flags = kubernetesLinkerFlags(version);
  return {
    name: "kubernetes",
    version,
    // Reading the real go.mod would need a download; a sample covers how we generate ours.
    ingredients: [main, flags, kubernetesGoMod(version, "k8s.io/any => ./staging/any")],
    async build(folder, step) {
      const source = await goModule("k8s.io/kubernetes", `v${version}`, step);
      const upstream = await readFile(path.join(source, "go.mod"), "utf8");
      await writeFile(path.join(folder, "go.mod"), kubernetesGoMod(version, upstream));
      await writeFile(path.join(folder, "main.go"), main);
      const output = path.join(folder, kubernetesProgram);
      // Another version that somebody asks for is built without: `GO_PINS=write` pins it.
      const kept = pinsFolder("kubernetes", version);
      const pins = process.env["GO_PINS"] === "write" || (await exists(kept)) ? kept : undefined;
      await goBuild({ from: folder, package: ".", output, linkerFlags: flags, pins }, step);
    },
  };
}
