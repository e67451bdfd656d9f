// Where each Go program of a release is, built when it is first asked for.
import * as path from "node:path";
import { etcdutlVersion } from "../../lab/build/etcd.ts";
import { linkerFlags } from "../../lab/build/go.ts";
import type { Architecture } from "../../lab/plugin/node-package.ts";
import { ensureProgram, type GoProgram } from "./go-program.ts";

const etcdutlModule = "go.etcd.io/etcd/etcdutl/v3";
const etcdutl = (architecture: Architecture): GoProgram => ({
  name: "etcdutl",
  version: etcdutlVersion,
  modules: { [etcdutlModule]: `v${etcdutlVersion}` },
  packages: { etcdutl: etcdutlModule },
  // The build id depends on where Go itself is.
  linkerFlags: `${linkerFlags} -buildid=`,
  architecture,
});

const gzip: GoProgram = { name: "gzip", version: "1", modules: {}, packages: { gzip: "." }, source: "gzip.go" };

const containerRegistry = "github.com/google/go-containerregistry";
const registryVersion = "0.22.1";
const registry: GoProgram = {
  name: "registry",
  version: registryVersion,
  modules: { [containerRegistry]: `v${registryVersion}` },
  packages: { registry: ".", crane: `${containerRegistry}/cmd/crane` },
  source: "registry.go",
};

const cosignModule = "github.com/sigstore/cosign/v3";
const cosignVersion = "3.1.3";
const cosign: GoProgram = {
  name: "cosign",
  version: cosignVersion,
  modules: { [cosignModule]: `v${cosignVersion}` },
  packages: { cosign: `${cosignModule}/cmd/cosign` },
};

const programIn = async (program: GoProgram, name = program.name): Promise<string> =>
  path.join(await ensureProgram(program), name);

/** What the image has. */
export const ensureEtcdutl = (architecture: Architecture): Promise<string> => programIn(etcdutl(architecture));

export const ensureGzip = (): Promise<string> => programIn(gzip);

export const ensureRegistry = (): Promise<string> => programIn(registry);

/** Copies images between folders and registries. */
export const ensureCrane = (): Promise<string> => programIn(registry, "crane");

/** Building it takes minutes: COSIGN names one that is installed. */
export async function ensureCosign(): Promise<string> {
  const installed = process.env["COSIGN"];
  return installed === undefined || installed === "" ? programIn(cosign) : installed;
}
