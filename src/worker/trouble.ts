// What keeps a worker's pod from running, in a sentence that says what to do and that stays the same while nothing changes.
// Reasons are told apart by the codes that scheduler and kubelet set; their words are passed on.
import type { ContainerStatus } from "kubernetes-types/core/v1.js";
import { imagePullReasons } from "../kube/objects/image-pull.ts";
import type { Pod } from "../kube/objects/kinds.ts";
import { printableLine } from "../kube/objects/printable.ts";
import { statusesOf } from "./pod.ts";

export interface Stuck {
  readonly because: string;
  /** `reported`: Kubernetes says so. `silent`: nobody says why, so it may just take its time. */
  readonly by: "reported" | "silent";
}

/** By the reason of a container that waits. */
const advice: ReadonlyMap<string, string> = new Map([
  ["CreateContainerConfigError", "Create what is missing, or correct spec.worker."],
  ["CreateContainerError", "`kubectl describe pod` says more."],
  ["RunContainerError", "`kubectl describe pod` says more."],
]);

/** However short a while it may have been. Undefined: it has started. */
export function stuckOn(pod: Pod): Stuck | undefined {
  const name = pod.metadata?.name ?? "";
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False")
    return {
      by: "reported",
      because: `No node takes the pod ${name} (${wordsOf(scheduled)}): change spec.worker.nodeSelector, affinity, tolerations or resources, or add a node that fits.`,
    };
  for (const container of statusesOf(pod)) {
    const { reason = "", message } = container.state?.waiting ?? {};
    const what = advice.get(reason);
    if (imagePullReasons.has(reason)) return { by: "reported", because: adviceOnImage(name, container) };
    if (what !== undefined)
      return { by: "reported", because: `The pod ${name} cannot start (${wordsOf({ reason, message })}). ${what}` };
  }
  const isCreating = statusesOf(pod).every(({ state }) => state?.waiting !== undefined);
  if (pod.status?.phase === "Running" || !isCreating) return undefined;
  return {
    by: "silent",
    because: `The pod ${name} has not started yet: ${see(pod)}\`kubectl describe pod ${name}\` says what it waits for.`,
  };
}

/** The kubelet has reasons that take turns, each with words of its own: said in ours, it stays the same. */
function adviceOnImage(pod: string, { name, image }: ContainerStatus): string {
  const whose =
    name === etcd
      ? "Set spec.verify.image to an image that exists and that the nodes can pull"
      : "It is the operator's own: check that the nodes can pull it";
  return `The image ${image} of the pod ${pod} cannot be pulled. ${whose}; where its registry asks who they are, set spec.worker.imagePullSecrets. \`kubectl describe pod ${pod}\` says more.`;
}

/** The member beside the worker that verifies a backup. */
const etcd = "etcd";

/** A Secret that is missing shows only in events, which nobody reads; so those that are needed are named. */
function see({ spec }: Pod): string {
  const needed = (spec?.volumes ?? []).flatMap(({ secret, persistentVolumeClaim: claim }) => [
    ...(secret?.secretName === undefined ? [] : [`the Secret ${secret.secretName}`]),
    ...(claim === undefined ? [] : [`the PersistentVolumeClaim ${claim.claimName}`]),
  ]);
  return needed.length === 0 ? "" : `check that these exist: ${needed.join(", ")}; `;
}

/** A reason of Kubernetes, and its words where it has some. */
export function wordsOf({
  reason = "",
  message = "",
}: {
  reason?: string | undefined;
  message?: string | undefined;
}): string {
  const words = printableLine(message).trim().replace(/\.+$/, "");
  return words === "" ? reason : `${reason}: ${words}`;
}
