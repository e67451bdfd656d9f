// How an EtcdRestore asks for the data of an EtcdCluster to be replaced: an annotation, which names the EtcdRestore and its
// uid, so that one that is made again under the same name is another request; and the uid of the EtcdCluster, so that an
// object that was exported, deleted and applied again asks for nothing.
import { EtcdCluster } from "./etcd-cluster.ts";

export const restoreAnnotation = `${EtcdCluster.group}/restore`;

export interface RestoreRequest {
  /** The name of the EtcdRestore, in the namespace of the EtcdCluster. */
  readonly name: string;
  readonly uid: string;
  /**
   * Which EtcdCluster it was written to. `new`: one that was made with it, and had no uid yet. `unsaid`: by a release that
   * did not say it. For both the EtcdRestore has to say it.
   */
  readonly to: "this" | "new" | "unsaid";
}

const made = "new";

/** `cluster`: the uid of the EtcdCluster; undefined: it is made with the request. */
export function formatRestoreRequest({ name, uid, cluster = made }: RestoreOf): string {
  return `${name}/${uid}/${cluster}`;
}

interface RestoreOf extends Pick<RestoreRequest, "name" | "uid"> {
  readonly cluster: string | undefined;
}

/** Undefined: nothing is asked of this EtcdCluster, or not in a form that can be understood. */
export function restoreRequestOf({ metadata }: Pick<EtcdCluster, "metadata">): RestoreRequest | undefined {
  const [name = "", uid = "", cluster, ...rest] = metadata?.annotations?.[restoreAnnotation]?.split("/") ?? [];
  if (name === "" || uid === "" || rest.length > 0) return undefined;
  if (cluster === undefined) return { name, uid, to: "unsaid" };
  if (cluster === made) return { name, uid, to: "new" };
  return cluster === metadata?.uid ? { name, uid, to: "this" } : undefined;
}
