// What keeps a worker's pod from running, in a sentence that says what to do. Reasons are told apart by the codes that
// scheduler and kubelet set; their words are passed on.
import type { ContainerStatus } from "kubernetes-types/core/v1.js";
import type { Pod } from "../kube/objects/kinds.ts";

/** How long a pod may take to get its volumes before it is worth a word. */
const patienceMs = 30_000;

const image =
  "It runs the operator's own image: see that the nodes can pull it; where its registry asks who they are, set spec.worker.imagePullSecrets.";

/** By the reason of a container that waits. */
const advice: ReadonlyMap<string, string> = new Map([
  ["ErrImagePull", image],
  ["ImagePullBackOff", image],
  ["ErrImageNeverPull", image],
  ["ImageInspectError", image],
  ["RegistryUnavailable", image],
  ["SignatureValidationFailed", image],
  ["InvalidImageName", image],
  ["CreateContainerConfigError", "Make what is missing, or correct spec.worker."],
  ["CreateContainerError", "`kubectl describe pod` says more."],
  ["RunContainerError", "`kubectl describe pod` says more."],
]);

/** Undefined: nothing is known to be wrong. `now` in milliseconds since 1970. */
export function troubleOf(pod: Pod, now: number): string | undefined {
  const name = pod.metadata?.name ?? "";
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False")
    return `No node takes the pod ${name} (${wordsOf(scheduled)}): change spec.worker.nodeSelector, affinity, tolerations or resources, or give a node what is asked for.`;
  for (const { state } of statusesOf(pod)) {
    const { reason = "", message } = state?.waiting ?? {};
    const what = advice.get(reason);
    if (what !== undefined) return `The pod ${name} cannot start (${wordsOf({ reason, message })}). ${what}`;
  }
  const isCreating = statusesOf(pod).every(({ state }) => state?.waiting !== undefined);
  const since = Date.parse(pod.metadata?.creationTimestamp ?? "");
  if (pod.status?.phase === "Running" || !isCreating || !(now - since > patienceMs)) return undefined;
  return `The pod ${name} has not started yet: ${see(pod)}\`kubectl describe pod ${name}\` says what it waits for.`;
}

/** A Secret that is missing shows only in events, which nobody reads; so those that are needed are named. */
function see({ spec }: Pod): string {
  const needed = (spec?.volumes ?? []).flatMap(({ secret, persistentVolumeClaim: claim }) => [
    ...(secret?.secretName === undefined ? [] : [`the Secret ${secret.secretName}`]),
    ...(claim === undefined ? [] : [`the PersistentVolumeClaim ${claim.claimName}`]),
  ]);
  return needed.length === 0 ? "" : `see that there is ${needed.join(", ")}; `;
}

function statusesOf({ status }: Pod): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

function wordsOf({ reason = "", message = "" }: { reason?: string | undefined; message?: string | undefined }): string {
  const words = message.trim().replace(/\.+$/, "");
  return words === "" ? reason : `${reason}: ${words}`;
}
