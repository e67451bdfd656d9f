// The parts of a release, in the order in which they are made; the image is there before, and the signatures come after.
import { airGap } from "./install/air-gap.ts";
import { chart } from "./install/chart.ts";
import { manifests } from "./install/manifests.ts";
import { notes } from "./notes.ts";
import { olmBundle } from "./olm/bundle.ts";
import type { Part } from "./part.ts";
import { kubectlPlugin } from "./plugin/plugin.ts";
import { sbom } from "./sbom/part.ts";

export const parts: readonly Part[] = [sbom, manifests, chart, airGap, olmBundle, kubectlPlugin, notes];
