// The etcd versions that the lab can run and how each is had: the current minors from their Go modules, 3.4 from
// Debian, and 3.2, the version that manifests of the old operator default to, from patched sources.
import type { Recipe } from "./cache.ts";
import { etcdFromDebian } from "./etcd-debian.ts";
import { etcdFromModules } from "./etcd-modules.ts";
import { etcd32 } from "./etcd-patched.ts";

/** The lab's own control plane stores in this one, and its etcdctl is the lab's etcdctl. */
export const controlPlaneEtcd = "3.6.16";

/** Newest first. 3.5.21 is older than what an upgrade to 3.6 asks for (3.5.32). */
const sources = {
  "3.7.3": etcdFromModules,
  [controlPlaneEtcd]: etcdFromModules,
  "3.5.35": etcdFromModules,
  "3.5.21": etcdFromModules,
  "3.4.23": etcdFromDebian,
  "3.2.13": etcd32,
} as const;

export type EtcdVersion = keyof typeof sources;

const isKnown = (version: string): version is EtcdVersion => version in sources;

export const etcdVersions: readonly EtcdVersion[] = Object.keys(sources).filter(isKnown);

export const etcdRecipe = async (version: EtcdVersion): Promise<Recipe> => sources[version](version);
