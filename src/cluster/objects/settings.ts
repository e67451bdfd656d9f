// What a pod was made from besides its version and image: the person's own settings, without defaults, as a text that is
// kept with the pod. Two specs that mean the same give the same text, and so does a release that adds a field with a
// default: an upgrade of the operator makes no pod look outdated. It can be read back: while a spec is wrong, members
// are made from what the others were made from.
import type { EtcdClusterSpec } from "../../api/etcd-cluster/etcd-cluster.ts";
import { specSchema } from "../../api/etcd-cluster/spec.ts";
import { sparse } from "../../api/schema/sparse.ts";

export type Settings = Pick<EtcdClusterSpec, "pod" | "etcd">;

type Pod = NonNullable<Settings["pod"]>;

/** Size, pause, failover and volumes of removed members make no other pod. */
export function settingsOf(settings: Settings): string {
  const { pod, etcd } = settings;
  return JSON.stringify(sparse(specSchema, { pod, etcd }));
}

/** Kubernetes changes the first three in a pod that runs; nothing is made from most of the others. */
const needNoOtherPod: ReadonlySet<string> = new Set([
  "labels",
  "annotations",
  "resources",
  "busyboxImage",
  "DNSTimeoutInSecond",
  // By now it has become an affinity.
  "antiAffinity",
  // Compared apart from this: a pod alone does not give a member another volume.
  "persistentVolumeClaimSpec",
]);

function whatNeedsAPod(pod: Pod): Pod {
  return Object.fromEntries(Object.entries(pod).filter(([field]) => !needNoOtherPod.has(field)));
}

/** It takes another pod to get from what it was made from to what the spec says. Unknown where that cannot be read. */
export function needsOtherPod(madeFrom: string, spec: Settings): boolean | undefined {
  const settings = parseSettings(madeFrom);
  const bare = ({ pod, etcd }: Settings): string =>
    settingsOf({ pod: whatNeedsAPod(pod ?? {}), ...(etcd && { etcd }) });
  return settings === undefined ? undefined : bare(settings) !== bare(spec);
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
