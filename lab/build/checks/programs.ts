// The programs by which tests check what is released, as those who receive it do: OLM's validators, the profiles of Pod
// Security, JSON schemas of Kubernetes, kube-score, and actionlint for the workflows.
import { copyFile } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt, type Recipe } from "../cache.ts";
import { goBuildSource, goMod, goModule, goSource } from "../go.ts";
import { pinsFolder } from "../modules/pins.ts";
import { goProgram } from "../modules/program.ts";

const olmVersion = "0.40.0";

/** lab/build/checks/main.go says what it does. */
export async function ensureChecks(): Promise<string> {
  const output = "checks";
  const require = {
    "github.com/operator-framework/api": `v${olmVersion}`,
    // That of the Kubernetes which the validators of OLM are built with.
    "k8s.io/pod-security-admission": "v0.35.1",
  };
  const pins = pinsFolder(output, olmVersion);
  const source = { goMod: goMod(output, require), main: await goSource(output), output, pins };
  const folder = await ensureBuilt({
    name: output,
    version: olmVersion,
    ingredients: [source.goMod, source.main],
    build: (folder, step) => goBuildSource(folder, source, step),
  });
  return path.join(folder, output);
}

const programs = {
  actionlint: goProgram(
    "actionlint",
    "github.com/rhysd/actionlint",
    "1.7.12",
    "github.com/rhysd/actionlint/cmd/actionlint",
  ),
  kubeconform: goProgram(
    "kubeconform",
    "github.com/yannh/kubeconform",
    "0.8.0",
    "github.com/yannh/kubeconform/cmd/kubeconform",
  ),
  "kube-score": goProgram(
    "kube-score",
    "github.com/zegl/kube-score",
    "1.20.0",
    "github.com/zegl/kube-score/cmd/kube-score",
  ),
} as const satisfies Record<string, Recipe>;

/** The path of the program. */
export const ensureProgram = async (name: keyof typeof programs): Promise<string> =>
  path.join(await ensureBuilt(programs[name]), name);

/** The CRDs of OLM, as its API ships them. */
export async function ensureOlmCrds(): Promise<string> {
  const crd = "operators.coreos.com_clusterserviceversions.yaml";
  const folder = await ensureBuilt({
    name: "olm-crds",
    version: olmVersion,
    ingredients: [crd],
    async build(folder, step) {
      const module = await goModule("github.com/operator-framework/api", `v${olmVersion}`, step);
      await copyFile(path.join(module, "crds", crd), path.join(folder, crd));
    },
  });
  return path.join(folder, crd);
}

/** The OpenAPI document of a Kubernetes release, as it is in its source. */
export async function ensureOpenApi(version: string): Promise<string> {
  const file = "swagger.json";
  const folder = await ensureBuilt({
    name: "kubernetes-openapi",
    version,
    ingredients: [file],
    async build(folder, step) {
      const module = await goModule("k8s.io/kubernetes", `v${version}`, step);
      await copyFile(path.join(module, "api/openapi-spec", file), path.join(folder, file));
    },
  });
  return path.join(folder, file);
}
