// What programs that wait make of an object, by their own code: lab/build/judges says how. For tests of health checks.
import * as path from "node:path";
import { ensureBuilt } from "./cache.ts";
import { goBuildSource, goMod, goSource } from "./go.ts";
import { pinsFolder } from "./modules/pins.ts";

/** That of the kustomize-controller of Flux 2.9; the versions of the others are those that it and Argo CD 3.5 are built with. */
const version = "0.110.3";

const require = {
  "github.com/fluxcd/pkg/runtime": `v${version}`,
  // Helm 4.2 has 1.2.1, whose kstatus is the same.
  "github.com/fluxcd/cli-utils": "v1.2.3",
  "github.com/fluxcd/pkg/apis/kustomize": "v1.19.2",
  "github.com/yuin/gopher-lua": "v1.1.2",
  "layeh.com/gopher-json": "v0.0.0-20190114024228-97fed8db8427",
};

/** The program. */
export async function ensureJudges(): Promise<string> {
  const output = "judges";
  const source = {
    goMod: goMod(output, require),
    main: await goSource(output),
    output,
    pins: pinsFolder(output, version),
  };
  const folder = await ensureBuilt({
    name: output,
    version,
    ingredients: [source.goMod, source.main],
    build: (folder, step) => goBuildSource(folder, source, step),
  });
  return path.join(folder, output);
}
