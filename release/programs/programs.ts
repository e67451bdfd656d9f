// Where each program of locked.ts is, built when it is first asked for.
import * as path from "node:path";
import { linkerFlags } from "../../lab/build/go.ts";
import type { Architecture } from "../../lab/plugin/node-package.ts";
import { ensureProgram, type LockedProgram } from "./locked.ts";

const etcdutl = (architecture: Architecture): LockedProgram => ({
  name: "etcdutl",
  packages: { etcdutl: "go.etcd.io/etcd/etcdutl/v3" },
  // The build id depends on where Go itself is.
  linkerFlags: `${linkerFlags} -buildid=`,
  architecture,
});

const programIn = async (program: LockedProgram, name = program.name): Promise<string> =>
  path.join(await ensureProgram(program), name);

/** What the image has. */
export const ensureEtcdutl = (architecture: Architecture): Promise<string> => programIn(etcdutl(architecture));

export const ensureGzip = (): Promise<string> => programIn({ name: "gzip" });

const registry: LockedProgram = {
  name: "registry",
  packages: { registry: ".", crane: "github.com/google/go-containerregistry/cmd/crane" },
};

export const ensureRegistry = (): Promise<string> => programIn(registry, "registry");

/** Copies images between folders and registries. */
export const ensureCrane = (): Promise<string> => programIn(registry, "crane");

/** Building it takes minutes: COSIGN names one that is installed. */
export async function ensureCosign(): Promise<string> {
  const installed = process.env["COSIGN"];
  if (installed !== undefined && installed !== "") return installed;
  return programIn({ name: "cosign", packages: { cosign: "github.com/sigstore/cosign/v3/cmd/cosign" } });
}
