// Another reference of the image that a container runs. A kubelet starts a container again, in its pod and with all that is
// in the pod's volumes, when the text of its image changes; nothing else in a pod that runs can be changed to that end.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";

/** On a pod that was started again: the image as it was asked for, the reference that stands for it, and how often it had been restarted. */
export const startedAgainAnnotation = `${EtcdCluster.group}/started-again`;

export interface StartedAgain {
  readonly asked: string;
  readonly reference: string;
  readonly restarts: number;
}

export const formatStartedAgain = (one: StartedAgain): string => JSON.stringify(one);

/** It says nothing about a container whose image was changed since. */
export function startedAgainIn(text: string | undefined, image: string): StartedAgain | undefined {
  try {
    const { asked, reference, restarts }: Partial<StartedAgain> = JSON.parse(text ?? "{}");
    if (typeof asked !== "string" || typeof reference !== "string" || typeof restarts !== "number") return undefined;
    return reference === image ? { asked, reference, restarts } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What the container's status calls its image: the node has it under that name and pulls nothing, as
 * `quay.io/coreos/etcd@sha256:…`, or `sha256:…` where it was loaded and not pulled. Undefined: it says nothing of use.
 */
export function otherReference(image: string, imageId: string): string | undefined {
  const id = imageId.replace(/^[a-z-]+:\/\//, "");
  const [, name, digest] = /^(?:(.+)@)?(sha256:[0-9a-f]{64})$/.exec(id) ?? [];
  if (digest === undefined) return undefined;
  if (id !== image) return id;
  // The digest counts, and what stands before it is only a name.
  return name === undefined ? undefined : `${name}:started-again@${digest}`;
}
