// etcd 3.2 and 3.3, which are older than Go modules, built with a current Go. 3.2 needs one patch: the generated decoder of
// the v2 client uses a codec library that panics on a current Go. Without that file a newer codec decodes the same by
// reflection.
import { chmod, cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import type { Recipe } from "./cache.ts";
import { goBuild, goModule } from "./go.ts";
import { pinsFolder } from "./modules/pins.ts";

const module = "github.com/coreos/etcd";
const programs = { etcd: module, etcdctl: `${module}/etcdctl` };

/** Minor version → the files that are left out. */
const leftOut = { "3.2": ["client/keys.generated.go"], "3.3": [] } as const;

export const etcd32 = (version: string): Promise<Recipe> => etcdBeforeModules("3.2", version);
export const etcd33 = (version: string): Promise<Recipe> => etcdBeforeModules("3.3", version);

async function etcdBeforeModules(minor: keyof typeof leftOut, version: string): Promise<Recipe> {
  const pins = pinsFolder("etcd", version);
  const goMod = await readFile(path.join(pins, "go.mod"), "utf8");
  return {
    name: "etcd",
    version,
    ingredients: [goMod, ...leftOut[minor]],
    async build(folder, step) {
      const source = path.join(folder, "source");
      await cp(await goModule(module, `v${version}+incompatible`, step), source, { recursive: true });
      await makeWritable(source);
      for (const file of leftOut[minor]) await rm(path.join(source, file));
      await writeFile(path.join(source, "go.mod"), `module ${module}\n\ngo 1.12\n`);
      await writeFile(path.join(folder, "go.mod"), goMod);
      for (const [program, pkg] of Object.entries(programs))
        await goBuild({ from: folder, package: pkg, output: path.join(folder, program), pins }, step);
      await rm(source, { recursive: true });
    },
  };
}

/** Go keeps module sources read-only, and a copy stays so. */
async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}
