// How an EtcdRestore asks for the data of an EtcdCluster to be replaced: an annotation, which names the EtcdRestore and its
// uid, so that one that is made again under the same name is another request.
import { EtcdCluster } from "./etcd-cluster.ts";

export const restoreAnnotation = `${EtcdCluster.group}/restore`;

export interface RestoreRequest {
  /** Of the EtcdRestore, in the namespace of the EtcdCluster. */
  readonly name: string;
  readonly uid: string;
}

export function formatRestoreRequest({ name, uid }: RestoreRequest): string {
  return `${name}/${uid}`;
}

/** Undefined: nothing is asked for, or not in a form that can be understood. */
export function restoreRequestOf({ metadata }: Pick<EtcdCluster, "metadata">): RestoreRequest | undefined {
  const [name = "", uid = "", ...rest] = metadata?.annotations?.[restoreAnnotation]?.split("/") ?? [];
  return name === "" || uid === "" || rest.length > 0 ? undefined : { name, uid };
}
