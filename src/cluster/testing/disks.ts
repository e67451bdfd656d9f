// Where the members of an in-memory Kubernetes keep their data: in their pods, or in volumes, which outlive pods and go when
// their claims are gone and nobody uses them.
import type { MemberId } from "../../etcd/ids.ts";
import { isNotFound } from "../../kube/client/errors.ts";
import { PersistentVolumeClaim, type Pod } from "../../kube/objects/kinds.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import type { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";

export /** Where a member keeps its data: in its pod, or in a volume. */
interface Disk {
  /** Whose data it holds. */
  data: MemberId | undefined;
  /** The uid of its claim; undefined: it goes with its pod. */
  readonly claim: string | undefined;
  /** Its claim is gone: it goes with the pod that uses it. */
  unclaimed: boolean;
}

export class Disks {
  readonly #api: FakeApi;
  /** By the uid of their claims. */
  readonly #volumes = new Map<string, Disk>();

  constructor(api: FakeApi) {
    this.#api = api;
  }

  /** Where the pod keeps its data, if not in itself; undefined while the claim that it names is not there. */
  async of(pod: Pod, own: Disk): Promise<Disk | undefined> {
    const name = pod.spec?.volumes?.find(({ persistentVolumeClaim }) => persistentVolumeClaim)?.persistentVolumeClaim
      ?.claimName;
    if (name === undefined) return own;
    const key = { ...keyOf(pod), name };
    const claim = await this.#api.get(PersistentVolumeClaim, key).catch(unlessNotFound);
    if (claim === undefined) return undefined;
    const uid = claim.metadata?.uid ?? "";
    if (claim.status?.phase !== "Bound") {
      const storage = claim.spec?.resources?.requests?.["storage"] ?? "1Gi";
      const status = { phase: "Bound", capacity: { storage } };
      await this.#api.mergePatch(PersistentVolumeClaim, key, { status }, { subresource: "status" });
    }
    const disk = this.#volumes.get(uid) ?? { data: undefined, claim: uid, unclaimed: false };
    this.#volumes.set(uid, disk);
    return disk;
  }

  /** The claim is gone, and its disk is the answer. */
  unclaim(uid: string): Disk | undefined {
    const disk = this.#volumes.get(uid);
    this.#volumes.delete(uid);
    if (disk !== undefined) disk.unclaimed = true;
    return disk;
  }
}

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
