// The labels and annotations that a person gives to the pods, in `spec.pod`, and their resources. They are changed in pods that run. What was
// given before is known from the settings that the pod was made from, so that what is no longer asked for can be taken
// away, and what others have written stays.
import type { ResourceRequirements } from "kubernetes-types/core/v1.js";
import { type CompleteSpec, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { settingsAnnotation, versionAnnotation } from "./member-pod.ts";
import { askedFor } from "./resources.ts";
import { holdsValues, parseSettings, type Settings, settingsOf } from "./settings.ts";

type Texts = Readonly<Record<string, string>>;

export interface MetadataChange {
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** As a merge patch, which also takes away values that must not be there; undefined when there is nothing to change, or it is not known what was there before. */
export function metadataChange(
  madeFrom: string | undefined,
  { pod }: Pick<CompleteSpec, "pod">,
): MetadataChange | undefined {
  const before: Settings | undefined = madeFrom === undefined ? undefined : parseSettings(madeFrom);
  if (before === undefined) return undefined;
  const labels = changes(before.pod?.labels, pod.labels);
  const annotations = changes(before.pod?.annotations, pod.annotations);
  const isSame = Object.keys(labels).length === 0 && Object.keys(annotations).length === 0;
  if (isSame && !holdsValues(before)) return undefined;
  const { labels: _, annotations: __, ...rest } = before.pod ?? {};
  const after = {
    ...before,
    pod: {
      ...rest,
      ...(pod.labels && { labels: pod.labels }),
      ...(pod.annotations && { annotations: pod.annotations }),
    },
  };
  return { labels, annotations: { ...annotations, [settingsAnnotation]: settingsOf(after) } };
}

/** The settings of a pod once it has been given these resources in place; undefined: it is not known what it had before. */
export function settingsWith(madeFrom: string | undefined, resources: ResourceRequirements): string | undefined {
  const before = madeFrom === undefined ? undefined : parseSettings(madeFrom);
  if (before === undefined) return undefined;
  return settingsOf({ ...before, pod: { ...before.pod, resources: askedFor(before.pod?.resources, resources) } });
}

function changes(before: Texts = {}, after: Texts = {}): Record<string, string | null> {
  const gone = Object.keys(before).filter((key) => after[key] === undefined);
  const given = Object.entries(after).filter(([key, value]) => before[key] !== value);
  const all = [...gone.map((key) => [key, null] as const), ...given];
  return Object.fromEntries(all.filter(([key]) => !isOperators(key)));
}

/** As when a pod is made, what the operator writes there wins. */
const isOperators = (key: string): boolean => key === versionAnnotation || key.startsWith(`${EtcdCluster.group}/`);
