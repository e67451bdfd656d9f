// etcd from 3.5 on: server, etcdctl and etcdutl are Go modules of their own.
import { writeFile } from "node:fs/promises";
import * as path from "node:path";
import type { Recipe } from "./cache.ts";
import { goBuild, goMod } from "./go.ts";
import { pinsFolder } from "./modules/pins.ts";

const programs = { etcd: "server", etcdctl: "etcdctl", etcdutl: "etcdutl" };
const module = (name: string): string => `go.etcd.io/etcd/${name}/v3`;

export function etcdFromModules(version: string): Recipe {
  const mod = goMod("etcd", Object.fromEntries(Object.values(programs).map((name) => [module(name), `v${version}`])));
  return {
    name: "etcd",
    version,
    ingredients: [mod],
    async build(folder, step) {
      await writeFile(path.join(folder, "go.mod"), mod);
      const pins = pinsFolder("etcd", version);
      for (const [program, name] of Object.entries(programs))
        await goBuild({ from: folder, package: module(name), output: path.join(folder, program), pins }, step);
    },
  };
}
