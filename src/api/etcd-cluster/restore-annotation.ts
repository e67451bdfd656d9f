// How an EtcdRestore asks for the data of an EtcdCluster to be replaced: by an annotation that names it. The uid tells it
// from an earlier one of its name.
import type { KubeObject } from "../../kube/objects/objects.ts";
import { EtcdCluster } from "./etcd-cluster.ts";

export const restoreAnnotation = `${EtcdCluster.group}/restore`;

export interface RestoreReference {
  readonly name: string;
  readonly uid: string;
}

export const restoreAnnotationValue = ({ name, uid }: RestoreReference): string => `${name}/${uid}`;

/** Undefined where nothing is asked for, or in a form that says nothing. */
export function restoreAskedOf({ metadata }: KubeObject): RestoreReference | undefined {
  const [name = "", uid = "", ...rest] = metadata?.annotations?.[restoreAnnotation]?.split("/") ?? [];
  return name === "" || uid === "" || rest.length > 0 ? undefined : { name, uid };
}
