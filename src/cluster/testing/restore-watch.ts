// What must never happen to what a cluster holds when it is brought back to a backup: that it is replaced twice for one
// request, that it is replaced before there is a copy of it, and that a pod uses what was put aside for people.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import type { FinishedCall } from "../../kube/testing/fake-api/calls.ts";
import { claimLabel } from "../objects/claims.ts";
import { claimNameOf } from "./kubelet/disks.ts";
import type { Kubelet } from "./kubelet/kubelet.ts";
import { jobIn, restoreContainer } from "../../worker/pod.ts";

export class RestoreWatch {
  /** Operators manage restores, too, and so have to save what is replaced. */
  isWhole = false;
  readonly #kubelet: Kubelet;
  readonly #fail: (what: string) => void;
  /** The uids of EtcdRestores that clusters follow, and of those that they have followed to the end. */
  readonly #begun = new Set<string>();
  readonly #done = new Set<string>();
  /** The uids of those for which members that served were stopped. */
  readonly #stopped = new Set<string>();
  #last: Kubelet["etcd"];
  /** The highest that clients saw; and that of the cluster whose data is being replaced. */
  #highest = 0;
  #replaced: number | undefined;
  /** Names of claims, with their namespaces. */
  readonly #retired = new Set<string>();

  constructor(kubelet: Kubelet, fail: (what: string) => void) {
    this.#kubelet = kubelet;
    this.#fail = fail;
  }

  heard({ kind, verb, object }: FinishedCall): void {
    if (object === undefined) return;
    // The server keeps them under these kinds.
    if (kind === EtcdCluster.kind) this.#follow(object as EtcdCluster);
    if (kind === PersistentVolumeClaim.kind) this.#note(object as PersistentVolumeClaim, verb);
    if (kind === Pod.kind && verb === "create") this.#expectOwnVolume(object as Pod);
  }

  /** At any time. */
  check(): void {
    const { etcd } = this.#kubelet;
    if (etcd === undefined) return;
    const { revision } = etcd.store;
    if (etcd !== this.#last && this.#replaced !== undefined && revision <= this.#replaced)
      this.#fail(`clients see revision ${revision} again, after ${this.#replaced}`);
    if (etcd !== this.#last) [this.#last, this.#replaced] = [etcd, undefined];
    this.#highest = Math.max(this.#highest, revision);
  }

  /** A pod begins a cluster. */
  seeded(pod: Pod): void {
    const job = jobIn(pod, restoreContainer);
    if (job?.do === "restore" && this.#stopped.has(job.token)) this.#replaced = this.#highest;
    if (job?.do === "restore" && this.#done.has(job.token))
      this.#fail(`${pod.metadata?.name} brings an old backup back`);
  }

  #follow({ status }: EtcdCluster): void {
    const { uid, phase } = status?.restore ?? {};
    if (uid === undefined) return;
    if (phase === "Stopping" && this.#done.has(uid)) this.#fail("an EtcdRestore that is over is carried out again");
    if (phase === "Stopping" && !this.#begun.has(uid)) this.#expectSaved(uid);
    this.#begun.add(uid);
    if (phase === "Stopping") this.#stopped.add(uid);
    if (phase === "Done") this.#done.add(uid);
  }

  /** What serves is in a volume that stays, or in the store. */
  #expectSaved(uid: string): void {
    const { etcd, keepsACopy, workers } = this.#kubelet;
    if (!this.isWhole || etcd === undefined || !etcd.decides || etcd.entries === 0 || keepsACopy) return;
    const isSaved = workers.done.some((job) => job.do === "backup" && job.run.startsWith(`restore-${uid}`));
    if (!isSaved) this.#fail("what the cluster holds is replaced, and nobody has a copy");
  }

  #note({ metadata }: PersistentVolumeClaim, verb: FinishedCall["verb"]): void {
    const name = `${metadata?.namespace}/${metadata?.name}`;
    if (metadata?.labels?.[claimLabel] === "retired" && verb !== "delete") this.#retired.add(name);
    else this.#retired.delete(name);
  }

  #expectOwnVolume(pod: Pod): void {
    const { namespace, name } = pod.metadata ?? {};
    const claim = claimNameOf(pod);
    if (claim !== undefined && this.#retired.has(`${namespace}/${claim}`))
      this.#fail(`${name} is made on a retired claim`);
  }
}
