// Prometheus, which the alerts and dashboards are tried on, and promtool, which checks them. Debian's is built without the
// discovery of Kubernetes, so that is built as a program of its own. The Prometheus operator contributes its CRDs only.
import { copyFile } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt, type Recipe } from "./cache.ts";
import { programsOf } from "./debian.ts";
import { goBuildSource, goMod, goModule, goSource } from "./go.ts";
import { pinsFolder } from "./modules/pins.ts";

/** That of Debian 12. */
const version = "2.42.0";

const prometheusRecipe: Recipe = {
  name: "prometheus",
  version,
  ingredients: ["debian"],
  build: (folder, step) => programsOf("prometheus", version, ["prometheus", "promtool"], folder, step),
};

/** The folder of both programs. */
export const ensurePrometheus = (): Promise<string> => ensureBuilt(prometheusRecipe);

/** That of Prometheus 3.13. */
const discoveryVersion = "0.313.5";

/** The program; lab/build/discovery says what it does. */
export async function ensureDiscovery(): Promise<string> {
  const output = "discovery";
  const require = { "github.com/prometheus/prometheus": `v${discoveryVersion}` };
  const source = {
    goMod: goMod(output, require),
    main: await goSource(output),
    output,
    pins: pinsFolder(output, discoveryVersion),
  };
  const folder = await ensureBuilt({
    name: output,
    version: discoveryVersion,
    ingredients: [source.goMod, source.main],
    build: (folder, step) => goBuildSource(folder, source, step),
  });
  return path.join(folder, output);
}

const operatorVersion = "0.85.0";
const crds = ["podmonitors", "prometheusrules"].map((plural) => `monitoring.coreos.com_${plural}.yaml`);

/** A folder with the CRDs of PodMonitor and PrometheusRule, as the Prometheus operator ships them. */
export const ensureMonitoringCrds = (): Promise<string> =>
  ensureBuilt({
    name: "prometheus-operator-crd",
    version: operatorVersion,
    ingredients: crds,
    async build(folder, step) {
      const module = await goModule("github.com/prometheus-operator/prometheus-operator", `v${operatorVersion}`, step);
      for (const file of crds)
        await copyFile(path.join(module, "example/prometheus-operator-crd", file), path.join(folder, file));
    },
  });
