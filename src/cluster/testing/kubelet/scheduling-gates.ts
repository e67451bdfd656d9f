// Pods that a scheduling gate holds back: until their gates are removed no kubelet has to do with them, and when they are
// deleted they are gone at once.
import type { Pod } from "../../../kube/objects/kinds.ts";
import type { FinishedCall } from "../../../kube/testing/fake-api/calls.ts";

export class SchedulingGates {
  readonly #gated = new Set<string>();

  /** What a change of the pod means. Undefined: nothing holds it back. */
  heard(pod: Pod, verb: FinishedCall["verb"]): "held" | "opened" | "gone" | undefined {
    const { uid = "" } = pod.metadata ?? {};
    const isGated = (pod.spec?.schedulingGates ?? []).length > 0;
    if (verb === "create" && isGated) this.#gated.add(uid);
    if (!this.#gated.has(uid)) return undefined;
    if (verb !== "delete" && isGated) return "held";
    this.#gated.delete(uid);
    return verb === "delete" ? "gone" : "opened";
  }
}
