// What a pod was made from besides its version and image: the person's own settings, without defaults, as a text that is
// kept with the pod. Two specs that mean the same give the same text, and so does a release that adds a field with a
// default: an upgrade of the operator makes no pod look outdated. It can be read back: while a spec is wrong, members
// are made from what the others were made from. Values of `etcdEnv` may be secret, and whoever can list pods reads
// annotations, so of each there is a digest; releases before kept the values themselves.
import { createHash } from "node:crypto";
import type { EnvVar } from "kubernetes-types/core/v1.js";
import type { EtcdClusterSpec } from "../../api/etcd-cluster/etcd-cluster.ts";
import { specSchema } from "../../api/etcd-cluster/spec.ts";
import { isJsonObject, type JsonObject } from "../../api/schema/complete.ts";
import { sparse } from "../../api/schema/sparse.ts";

export type Settings = Pick<EtcdClusterSpec, "pod" | "etcd">;

type Pod = NonNullable<Settings["pod"]>;

/** Size, pause, failover and volumes of removed members make no other pod. */
export function settingsOf(settings: Settings): string {
  const { pod, etcd } = settings;
  return JSON.stringify(withoutValues(sparse(specSchema, { pod, etcd })));
}

function withoutValues(settings: JsonObject): JsonObject {
  const { pod } = settings;
  if (!isJsonObject(pod) || !Array.isArray(pod["etcdEnv"])) return settings;
  return { ...settings, pod: { ...pod, etcdEnv: pod["etcdEnv"].map(withoutValue) } };
}

function withoutValue(variable: unknown): unknown {
  if (!isJsonObject(variable) || typeof variable["value"] !== "string") return variable;
  const { value, ...rest } = variable;
  return { ...rest, valueDigest: digestOf(String(rest["name"]), value) };
}

/** Part of what is stored with pods and claims: it must stay as it is. */
const digestOf = (name: string, value: string): string =>
  createHash("sha256").update(`${name}=${value}`).digest("hex").slice(0, 32);

/** Written by a release that kept values of `etcdEnv`. */
export function holdsValues({ pod }: Settings): boolean {
  return pod?.etcdEnv?.some(({ value }) => value !== undefined) ?? false;
}

/** With the values of `etcdEnv` again, where one of these variables has it; undefined: one is not known any more. */
export function withValues(settings: Settings, known: readonly EnvVar[]): Settings | undefined {
  const { pod } = settings;
  if (pod?.etcdEnv === undefined) return settings;
  const etcdEnv = pod.etcdEnv.map((variable) => withValue(variable, known));
  const isWhole = (all: readonly (EnvVar | undefined)[]): all is EnvVar[] => !all.includes(undefined);
  return isWhole(etcdEnv) ? { ...settings, pod: { ...pod, etcdEnv } } : undefined;
}

function withValue(variable: EnvVar & { readonly valueDigest?: string }, known: readonly EnvVar[]): EnvVar | undefined {
  const { valueDigest, ...rest } = variable;
  if (valueDigest === undefined) return variable;
  const { name } = rest;
  const same = known.find((one) => one.name === name && digestOf(name, one.value ?? "") === valueDigest);
  return same && { ...rest, value: same.value ?? "" };
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
