// Pods that try an image on the nodes of an in-memory Kubernetes: they print the version of the program in it, and end.
import { type Clock, pause } from "../../../kube/clock.ts";
import { getOrUndefined } from "../../../kube/client/get-or-undefined.ts";
import { Pod } from "../../../kube/objects/kinds.ts";
import { keyOf } from "../../../kube/objects/objects.ts";
import type { FinishedCall } from "../../../kube/testing/fake-api/calls.ts";
import type { FakeApi } from "../../../kube/testing/fake-api/fake-api.ts";
import { etcdContainer } from "../../objects/member-pod.ts";
import { containerOf, isFrom, versionIn } from "./container.ts";
import { times } from "./kubelet-times.ts";

export class ImageTries {
  /** Nodes have room for members and for nothing else: they reject whatever more they are given. */
  areFull = false;
  /** Registries that nodes get no image from. */
  readonly missing: string[] = ["missing.example/"];
  readonly #api: FakeApi;
  readonly #clock: Clock;

  constructor(api: FakeApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  async heard(pod: Pod, verb: FinishedCall["verb"]): Promise<void> {
    const key = keyOf(pod);
    const { uid = "" } = pod.metadata ?? {};
    if (verb === "delete") return this.#api.delete(Pod, key, { uid, gracePeriodSeconds: 0 });
    if (verb !== "create") return;
    this.#api.logs.set(uid, `etcd Version: ${versionIn(pod)}\nGit SHA: Not provided\n`);
    await pause(this.#clock, times.start, new AbortController().signal);
    const live = await getOrUndefined(this.#api, Pod, key);
    if (live?.metadata?.uid !== uid) return;
    await this.#api.mergePatch(Pod, key, { status: this.#outcome(pod) }, { subresource: "status" });
  }

  #outcome(pod: Pod): object {
    if (this.areFull)
      return {
        phase: "Failed",
        reason: "OutOfcpu",
        message: "Pod was rejected: Node didn't have enough resource: cpu",
      };
    if (!isFrom(this.missing, containerOf(pod)?.image ?? "")) return { phase: "Succeeded" };
    const waiting = { name: etcdContainer, state: { waiting: { reason: "ErrImagePull" } } };
    return { phase: "Pending", containerStatuses: [waiting] };
  }
}
