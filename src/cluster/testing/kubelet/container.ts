// What a container of a member's pod is started with: its flags, from the command line or from the environment, and the
// program's version.
import type { Container, EnvVar } from "kubernetes-types/core/v1.js";
import type { Pod } from "../../../kube/objects/kinds.ts";
import type { KubeObject } from "../../../kube/objects/objects.ts";
import { etcdContainer, versionAnnotation } from "../../objects/member-pod.ts";

export interface Flags {
  /** Without the dashes, as in `initial-cluster`; empty when it is not given. */
  get(name: string): string;
}

export function containerOf(pod: Pod): Container | undefined {
  return pod.spec?.containers.find(({ name }) => name === etcdContainer);
}

/** As the pod is now: what comes from an annotation is read when a container starts, and not before. */
export function flagsOf(pod: Pod): Flags {
  const { command = [], args = [], env = [] } = containerOf(pod) ?? {};
  return {
    get(name) {
      const argument = [...command, ...args].find((one) => one.startsWith(`--${name}=`));
      if (argument !== undefined) return argument.slice(name.length + 3);
      return valueOf(
        env.find((one) => one.name === variableOf(name)),
        pod,
      );
    },
  };
}

function valueOf(variable: EnvVar | undefined, pod: Pod): string {
  const path = variable?.valueFrom?.fieldRef?.fieldPath;
  if (path === undefined) return variable?.value ?? "";
  const [, annotation = ""] = /^metadata\.annotations\['(.+)'\]$/.exec(path) ?? [];
  if (annotation !== "") return pod.metadata?.annotations?.[annotation] ?? "";
  if (path === "metadata.name") return pod.metadata?.name ?? "";
  if (path === "metadata.namespace") return pod.metadata?.namespace ?? "";
  if (path === "status.podIP") return pod.status?.podIP ?? "";
  throw new Error(`this kubelet knows no ${path}`);
}

/** The same pod, of an operator that did not know this flag. */
export function withoutFlag<T extends KubeObject & Pick<Pod, "spec">>(pod: T, name: string): T {
  const containers = (pod.spec?.containers ?? []).map((container) => ({
    ...container,
    ...(container.command && { command: container.command.filter((one) => !one.startsWith(`--${name}=`)) }),
    ...(container.env && { env: container.env.filter((one) => one.name !== variableOf(name)) }),
  }));
  return { ...pod, spec: { ...pod.spec, containers } };
}

const variableOf = (flag: string): string => `ETCD_${flag.toUpperCase().replaceAll("-", "_")}`;

/** Version of the program in the image. */
export function versionIn(pod: Pod): string {
  const [, tagged] = /:v?(\d+\.\d+\.\d+)(?:@|$)/.exec(containerOf(pod)?.image ?? "") ?? [];
  return tagged ?? pod.metadata?.annotations?.[versionAnnotation] ?? "";
}

/** Its registry is one of them, as its name begins. */
export const isFrom = (registries: readonly string[], image: string): boolean =>
  registries.some((registry) => image.startsWith(registry));

/** What a kubelet puts into the status of what a program printed before it failed. */
export function messageOf(pod: Pod, printed: string): string {
  return containerOf(pod)?.terminationMessagePolicy === "FallbackToLogsOnError" ? printed : "";
}

/** In bytes; infinite without a limit. */
export function memoryLimit(pod: Pod): number {
  const limit = containerOf(pod)?.resources?.limits?.["memory"];
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  const [, number = "", unit = ""] = /^(\d+)(Ki|Mi|Gi)?$/.exec(limit) ?? [];
  return Number(number) * (units.get(unit) ?? 1);
}

const units: ReadonlyMap<string, number> = new Map([
  ["Ki", 2 ** 10],
  ["Mi", 2 ** 20],
  ["Gi", 2 ** 30],
]);

/** What an etcd admits and holds, by its own where it was not told. */
export function limitsIn(flags: Flags): { readonly maxLearners: number; readonly quota: number } {
  return {
    maxLearners: Number(flags.get("max-learners") || 1),
    quota: Number(flags.get("quota-backend-bytes") || 2 * 1024 ** 3),
  };
}

/** What a list of members says: peer URLs, and the one under which this member stands in it. */
export function initialCluster(flags: Flags): { readonly urls: string[]; readonly own: string } {
  const entries = flags
    .get("initial-cluster")
    .split(",")
    .filter((entry) => entry !== "");
  const url = (entry: string | undefined): string => entry?.slice(entry.indexOf("=") + 1) ?? "";
  const own = entries.find((entry) => entry.startsWith(`${flags.get("name")}=`));
  return { urls: entries.map(url), own: url(own) };
}
