// Where the members of an in-memory Kubernetes keep their data: in their pods, or in volumes, which outlive pods and go when
// their claims are gone and nobody uses them.
import type { MemberId } from "../../../etcd/ids.ts";
import type { FakeEtcd } from "../../../etcd/testing/fake-etcd.ts";
import { getOrUndefined } from "../../../kube/client/get-or-undefined.ts";
import { PersistentVolumeClaim, type Pod } from "../../../kube/objects/kinds.ts";
import { type Key, keyOf } from "../../../kube/objects/objects.ts";
import type { FakeApi } from "../../../kube/testing/fake-api/fake-api.ts";

/** Data of one member of one etcd. */
export interface Data {
  readonly etcd: FakeEtcd;
  readonly member: MemberId;
}

/** Where a member keeps its data: in its pod, or in a volume. */
export interface Disk {
  data: Data | undefined;
  /** The uid of its claim; undefined: it goes with its pod. */
  readonly claim: string | undefined;
  /** Its claim is to go as soon as no pod uses it. */
  doomed: boolean;
  /** Its claim is gone: it goes with the pod that uses it. */
  unclaimed: boolean;
}

export const emptyDir = (): Disk => ({ data: undefined, claim: undefined, doomed: false, unclaimed: false });

/** It outlives the pod that uses it now. */
export const outlivesItsPod = ({ claim, doomed, unclaimed }: Disk): boolean =>
  claim !== undefined && !doomed && !unclaimed;

export class Disks {
  readonly #api: FakeApi;
  /** By the uid of their claims. */
  readonly #volumes = new Map<string, Disk>();

  constructor(api: FakeApi) {
    this.#api = api;
  }

  /** Where the pod keeps its data, if not in itself; undefined while the claim that it names cannot be used. */
  async of(pod: Pod, own: Disk): Promise<Disk | undefined> {
    const name = claimNameOf(pod);
    if (name === undefined) return own;
    const key = { ...keyOf(pod), name };
    const claim = await getOrUndefined(this.#api, PersistentVolumeClaim, key);
    if (claim === undefined) return undefined;
    const { uid = "", deletionTimestamp } = claim.metadata ?? {};
    // No pod is scheduled with a claim that is being deleted; one that has it keeps it.
    if (deletionTimestamp !== undefined && own.claim !== uid) return undefined;
    if (claim.status?.phase !== "Bound") await this.#bind(key, claim);
    const disk = this.#volumes.get(uid) ?? { ...emptyDir(), claim: uid };
    this.#volumes.set(uid, disk);
    return disk;
  }

  async #bind(key: Key, { spec }: PersistentVolumeClaim): Promise<void> {
    const storage = spec?.resources?.requests?.["storage"] ?? "1Gi";
    const status = { phase: "Bound", capacity: { storage } };
    await this.#api.mergePatch(PersistentVolumeClaim, key, { status }, { subresource: "status" });
  }

  /** A copy of one volume under another claim, as a snapshot of the storage makes it. */
  clone(from: string, to: string): void {
    const disk = this.#volumes.get(from);
    if (disk !== undefined) this.#volumes.set(to, { ...emptyDir(), data: disk.data, claim: to });
  }

  /** Somebody deleted the claim, and it is there as long as a pod uses it. */
  doom(uid: string): void {
    const disk = this.#volumes.get(uid);
    if (disk !== undefined) disk.doomed = true;
  }

  /** The claim is gone, and its disk is the answer. */
  unclaim(uid: string): Disk | undefined {
    const disk = this.#volumes.get(uid);
    this.#volumes.delete(uid);
    if (disk !== undefined) disk.unclaimed = true;
    return disk;
  }
}

export const claimNameOf = ({ spec }: Pod): string | undefined =>
  spec?.volumes?.find(({ persistentVolumeClaim }) => persistentVolumeClaim)?.persistentVolumeClaim?.claimName;
