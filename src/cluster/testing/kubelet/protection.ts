// What Kubernetes calls pvc-protection: a claim that is deleted stays, terminating, until no pod uses it any more.
import { unlessNotFound } from "../../../kube/client/get-or-undefined.ts";
import { PersistentVolumeClaim, Pod } from "../../../kube/objects/kinds.ts";
import { keyOf, keyText } from "../../../kube/objects/objects.ts";
import type { FinishedCall } from "../../../kube/testing/fake-api/calls.ts";
import type { FakeApi } from "../../../kube/testing/fake-api/fake-api.ts";
import { claimNameOf } from "./disks.ts";

export const protectionFinalizer = "kubernetes.io/pvc-protection";

export class ClaimProtection {
  readonly #api: FakeApi;
  readonly #onGone: (uid: string) => void;
  /** Those that are to go, by namespace and name. */
  readonly #doomed = new Map<string, PersistentVolumeClaim>();

  /** `onGone`: told of the uid of each claim that is let go. */
  constructor(api: FakeApi, onGone: (uid: string) => void) {
    this.#api = api;
    this.#onGone = onGone;
  }

  /** The claim as it was when it was deleted. */
  async deleted(claim: PersistentVolumeClaim): Promise<void> {
    this.#doomed.set(keyText(keyOf(claim)), claim);
    await this.check();
  }

  /** A pod has gone. */
  async check(): Promise<void> {
    if (this.#doomed.size === 0) return;
    const pods = (await this.#api.list(Pod)).items;
    const used = new Set(pods.filter(isThere).flatMap((pod) => keysOf(pod)));
    for (const [key, claim] of this.#doomed) {
      if (used.has(key)) continue;
      this.#doomed.delete(key);
      const patch = { metadata: { finalizers: null } };
      await this.#api.mergePatch(PersistentVolumeClaim, keyOf(claim), patch).catch(unlessNotFound);
      this.#onGone(claim.metadata?.uid ?? "");
    }
  }

  heard({ kind, verb, object }: FinishedCall): Promise<void> {
    // The server keeps them under this kind.
    if (kind === PersistentVolumeClaim.kind && verb === "delete" && object !== undefined)
      return this.deleted(object as PersistentVolumeClaim);
    return kind === Pod.kind && verb !== "create" ? this.check() : Promise.resolve();
  }
}

/** One that has ended uses nothing any more. */
const isThere = ({ status }: Pod): boolean => status?.phase !== "Failed" && status?.phase !== "Succeeded";

function keysOf(pod: Pod): string[] {
  const name = claimNameOf(pod);
  return name === undefined ? [] : [keyText({ ...keyOf(pod), name })];
}
