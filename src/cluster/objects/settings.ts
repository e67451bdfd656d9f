// What a pod was made from besides its version and image: the person's own settings, without defaults, as a text that is
// kept with the pod. Two specs that mean the same give the same text, and so does a release that adds a field with a
// default: an upgrade of the operator makes no pod look outdated. It can be read back: while a spec is wrong, members
// are made from what the others were made from.
import type { CompleteSpec, EtcdClusterSpec } from "../../api/etcd-cluster/etcd-cluster.ts";
import { specSchema } from "../../api/etcd-cluster/spec.ts";
import { sparse } from "../../api/schema/sparse.ts";

export type Settings = Pick<EtcdClusterSpec, "pod" | "etcd">;

/** Size, pause, failover and volumes of removed members make no other pod. */
export function settingsOf({ pod, etcd }: Pick<CompleteSpec, "pod" | "etcd">): string {
  return JSON.stringify(sparse(specSchema, { pod, etcd }));
}

/** The same but for resources, which can be changed in a pod that runs. */
export function isSameButResources(madeFrom: string, spec: Pick<CompleteSpec, "pod" | "etcd">): boolean {
  const settings = parseSettings(madeFrom);
  const bare = ({ pod, etcd }: Settings): string =>
    JSON.stringify(sparse(specSchema, { pod: { ...pod, resources: undefined }, etcd }));
  return settings !== undefined && bare(settings) === bare(spec);
}

/** Undefined when it is not one of ours. */
export function parseSettings(text: string): Settings | undefined {
  try {
    const settings: unknown = JSON.parse(text);
    // Whatever it holds is completed by the schema, as a stored spec is.
    return typeof settings === "object" && settings !== null ? settings : undefined;
  } catch {
    return undefined;
  }
}
