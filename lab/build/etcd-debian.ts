// etcd 3.4 from Debian's packages, because its Go modules cannot be built. The programs are linked dynamically, so the image of
// this version needs libraries.
import type { Recipe } from "./cache.ts";
import { programsOf } from "./debian.ts";

const packages = { etcd: "etcd-server", etcdctl: "etcd-client" };

export function etcdFromDebian(version: string): Recipe {
  return {
    name: "etcd",
    version,
    ingredients: ["debian"],
    async build(folder, step) {
      for (const [program, pkg] of Object.entries(packages)) await programsOf(pkg, version, [program], folder, step);
    },
  };
}
