// The objects as the API server has them now, each read once in a decision: its actions follow each other within a moment,
// and each of their writes has a precondition of its own.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import { PersistentVolumeClaim, Pod, Secret } from "../../kube/objects/kinds.ts";
import type { Key, Kind, KubeObject } from "../../kube/objects/objects.ts";
import type { MemberName } from "../objects/names.ts";

export class Live {
  readonly #api: KubeApi;
  readonly #cluster: Key;
  readonly #read = new Map<string, Promise<KubeObject | undefined>>();

  constructor(api: KubeApi, cluster: Key) {
    this.#api = api;
    this.#cluster = cluster;
  }

  cluster = (): Promise<EtcdCluster | undefined> => this.#one(EtcdCluster, this.#cluster.name);
  pod = (name: MemberName): Promise<Pod | undefined> => this.#one(Pod, name);
  claim = (name: MemberName): Promise<PersistentVolumeClaim | undefined> => this.#one(PersistentVolumeClaim, name);
  secret = (name: string): Promise<Secret | undefined> => this.#one(Secret, name);
  restore = (name: string): Promise<EtcdRestore | undefined> => this.#one(EtcdRestore, name);

  pods = (labelSelector: string): Promise<readonly Pod[]> => this.#all(Pod, labelSelector);
  claims = (labelSelector: string): Promise<readonly PersistentVolumeClaim[]> =>
    this.#all(PersistentVolumeClaim, labelSelector);

  #one<T extends KubeObject>(kind: Kind<T>, name: string): Promise<T | undefined> {
    const of = `${kind.kind} ${name}`;
    const known = this.#read.get(of);
    // It is of the same kind, as its key says.
    if (known !== undefined) return known as Promise<T | undefined>;
    const read = getOrUndefined(this.#api, kind, { ...this.#cluster, name });
    this.#read.set(of, read);
    return read;
  }

  async #all<T extends KubeObject>(kind: Kind<T>, labelSelector: string): Promise<readonly T[]> {
    const { items } = await this.#api.list(kind, { namespace: this.#cluster.namespace, labelSelector });
    return items;
  }
}
