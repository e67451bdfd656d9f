// The etcd versions of the lab and where each comes from: current minors from Go modules, 3.4 from Debian, and 3.2, the
// default of etcd-operator 0.9, and 3.3, the step from there to 3.4, from sources older than Go modules.
import type { Recipe } from "./cache.ts";
import { etcdFromDebian } from "./etcd-debian.ts";
import { etcdFromModules } from "./etcd-modules.ts";
import { etcd32, etcd33 } from "./etcd-old.ts";

/** The etcd of the lab's own control plane, and of its etcdctl. */
export const controlPlaneEtcd = "3.6.16";

/** Newest first. 3.5.21 is older than an upgrade to 3.6 requires (3.5.32). */
const sources = {
  "3.7.3": etcdFromModules,
  [controlPlaneEtcd]: etcdFromModules,
  "3.5.35": etcdFromModules,
  "3.5.21": etcdFromModules,
  "3.4.23": etcdFromDebian,
  "3.3.27": etcd33,
  "3.2.13": etcd32,
} as const;

export type EtcdVersion = keyof typeof sources;

const isKnown = (version: string): version is EtcdVersion => version in sources;

export const etcdVersions: readonly EtcdVersion[] = Object.keys(sources).filter(isKnown);

/** The etcd whose etcdutl the operator's image has: the newest reads the snapshots of all. */
export const etcdutlVersion: EtcdVersion = "3.7.3";

export const etcdutlRecipe = (): Promise<Recipe> => etcdRecipe(etcdutlVersion);

export const etcdRecipe = async (version: EtcdVersion): Promise<Recipe> => sources[version](version);
