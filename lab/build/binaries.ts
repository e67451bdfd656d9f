// Builds the programs of the lab where they are missing, and links them into one folder.
import { randomUUID } from "node:crypto";
import { mkdir, rename, symlink } from "node:fs/promises";
import * as path from "node:path";
import type { LabConfig } from "../config.ts";
import { ensureBuilt } from "./cache.ts";
import { controlPlaneEtcd, etcdRecipe } from "./etcd.ts";
import { kubernetesComponents, kubernetesProgram, kubernetesRecipe } from "./kubernetes.ts";
import { corednsRecipe } from "./tools.ts";

export async function ensureBinaries(lab: LabConfig): Promise<void> {
  await mkdir(lab.bin, { recursive: true });
  // Kubernetes first: it takes longest, and the person should see that at once.
  const kubernetes = path.join(await ensureBuilt(await kubernetesRecipe(lab.kubernetes)), kubernetesProgram);
  for (const component of kubernetesComponents) await link(kubernetes, path.join(lab.bin, component));
  const etcd = await ensureBuilt(await etcdRecipe(controlPlaneEtcd));
  for (const program of ["etcd", "etcdctl", "etcdutl"])
    await link(path.join(etcd, program), path.join(lab.bin, program));
  await link(path.join(await ensureBuilt(await corednsRecipe()), "coredns"), path.join(lab.bin, "coredns"));
}

/** Renamed over the old link, so that the name is never missing while another lab starts. */
async function link(target: string, name: string): Promise<void> {
  const fresh = `${name}.${randomUUID()}`;
  await symlink(target, fresh);
  await rename(fresh, name);
}
