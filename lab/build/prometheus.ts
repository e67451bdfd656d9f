// Prometheus, which the alerts and dashboards are tried on, and promtool, which checks them.
import { ensureBuilt, type Recipe } from "./cache.ts";
import { programsOf } from "./debian.ts";

/** That of Debian 12. */
const version = "2.42.0";

export const prometheusRecipe: Recipe = {
  name: "prometheus",
  version,
  ingredients: ["debian"],
  build: (folder, step) => programsOf("prometheus", version, ["prometheus", "promtool"], folder, step),
};

/** The folder of both programs. */
export const ensurePrometheus = (): Promise<string> => ensureBuilt(prometheusRecipe);
