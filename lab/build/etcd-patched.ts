// etcd 3.2 built with a current Go. It needs one patch: the generated decoder of the v2 client uses a codec library that
// panics on a current Go. Without that file a newer codec decodes the same by reflection.
import { chmod, cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import type { Recipe } from "./cache.ts";
import { goBuild, goModule } from "./go.ts";

const module = "github.com/coreos/etcd";
const programs = { etcd: module, etcdctl: `${module}/etcdctl` };
const generatedDecoder = "client/keys.generated.go";

export async function etcd32(version: string): Promise<Recipe> {
  const goMod = await readFile(path.join(import.meta.dirname, "etcd-3.2", "go.mod"), "utf8");
  return {
    name: "etcd",
    version,
    ingredients: [goMod, generatedDecoder],
    async build(folder, step) {
      const source = path.join(folder, "source");
      await cp(await goModule(module, `v${version}+incompatible`, step), source, { recursive: true });
      await makeWritable(source);
      await rm(path.join(source, generatedDecoder));
      await writeFile(path.join(source, "go.mod"), `module ${module}\n\ngo 1.12\n`);
      await writeFile(path.join(folder, "go.mod"), goMod);
      for (const [program, pkg] of Object.entries(programs))
        await goBuild({ from: folder, package: pkg, output: path.join(folder, program) }, step);
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
