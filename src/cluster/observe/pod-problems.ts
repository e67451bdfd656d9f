// What keeps a pod from running, in the words of Kubernetes or of etcd, and what a person can do about it. Reasons are
// distinguished by the codes that scheduler and kubelet set; the words are only passed on.
import type { ContainerStateTerminated, ContainerStateWaiting } from "kubernetes-types/core/v1.js";
import { imagePrograms } from "../../etcd/versions/features.ts";
import { shortened } from "../../transport/shortened.ts";
import { parseResult } from "../../worker/pod.ts";
import { lastWordsOf } from "./last-words.ts";
import type { MemberPod, PodTrouble } from "./world.ts";
import { imagePullReasons } from "../../kube/objects/image-pull.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { etcdContainer } from "../objects/member-pod.ts";

const image =
  "Set spec.version, spec.repository or spec.image to an image that exists and that the nodes can pull; where its registry asks who they are, set spec.pod.imagePullSecrets.";
const program = `Set spec.image or spec.repository to an image that has ${imagePrograms.etcd}, and let spec.pod.resources.limits leave it room to start.`;

/** By the reason of a container that waits. */
const adviceOnWaiting: ReadonlyMap<string, string> = new Map([
  ...Array.from(imagePullReasons, (reason) => [reason, image] as const),
  ["InvalidImageName", "Correct spec.image or spec.repository."],
  [
    "CreateContainerConfigError",
    "Correct spec.pod.securityContext and spec.pod.etcdEnv, or create the Secret or ConfigMap that is missing.",
  ],
  ["CreateContainerError", program],
  ["RunContainerError", program],
]);

const startErrors: ReadonlySet<string> = new Set(["StartError", "ContainerCannotRun"]);

/** The container has ended before its program ran: the kubelet says why. */
export const neverRan = ({ reason = "" }: ContainerStateTerminated): boolean => startErrors.has(reason);

const memory = "It needs more memory: raise spec.pod.resources.limits.memory.";

const unschedulable =
  "No node takes it: change spec.pod.nodeSelector, affinity, topologySpreadConstraints, tolerations or resources, or add a node that fits.";
/** The scheduler has one reason for all that keeps a pod from a node, and these words for volumes. */
const unbound = /unbound immediate PersistentVolumeClaims|persistent volumes to bind|enough free storage/;
const noVolume =
  "Its volume cannot be made: set spec.pod.persistentVolumeClaimSpec.storageClassName to a StorageClass that exists and can make it, or leave it out for the default one; `kubectl describe pvc` says more.";
const endsItself =
  "Correct what it complains about in spec.pod.etcdEnv, spec.etcd or spec.pod.ClusterDomain; `kubectl logs --previous` has all of it.";

const noPeerAnswers =
  "No peer has answered it, so it is started again: check that members can reach each other's port 2380, that DNS resolves the names of their pods, and that spec.pod.ClusterDomain is the domain of your Kubernetes cluster.";

export function schedulingProblem(reason = "Unschedulable", message?: string): PodTrouble {
  const problem = problemSentence(reason, message);
  if (reason !== "Unschedulable") return { problem };
  return { problem, advice: unbound.test(message ?? "") ? noVolume : unschedulable };
}

/** Undefined while it waits for nothing but its turn. */
export function waitingProblem({ reason, message }: ContainerStateWaiting): PodTrouble | undefined {
  if (reason === undefined || reason === "ContainerCreating" || reason === "PodInitializing") return undefined;
  const advice = adviceOnWaiting.get(reason);
  return { problem: problemSentence(reason, message), ...(advice !== undefined && { advice }) };
}

/** Describes a program that has exited. Whether the kubelet backs off is left out: it changes all the time. */
export function endProblem(ended: ContainerStateTerminated | undefined): PodTrouble {
  const { reason = "Error", message = "", exitCode } = ended ?? {};
  const what = `${reason}: etcd ended with exit code ${exitCode ?? "unknown"}`;
  const withWords = (words: string | undefined): string => (words ? `${what} (${shortened(words.trim())})` : what);
  if (startErrors.has(reason)) return { problem: withWords(message), advice: program };
  // It was stopped in the middle of whatever it wrote last.
  if (reason === "OOMKilled") return { problem: what, advice: memory };
  return { problem: withWords(lastWordsOf(message)), advice: foundNoData(message) ? noPeerAnswers : endsItself };
}

/**
 * etcd exits like this when it has no data and nobody whom it could ask about its cluster (etcdserver/cluster_util.go,
 * from 3.2 to 3.7). There is no code for it.
 */
export function foundNoData(printed: string): boolean {
  return printed.toLowerCase().includes("could not retrieve cluster information");
}

/** Describes a worker that could not make the data of a member; undefined while it has not failed. */
export function restoreProblem(message: string | undefined): PodTrouble | undefined {
  const result = message === undefined ? undefined : parseResult(message);
  if (message === undefined || result?.ok === true) return undefined;
  return { problem: problemSentence("its data could not be restored", result?.message) };
}

/** Advice on the container that waits for DNS, in the operator's own image. */
export function workerImageProblem(waiting: ContainerStateWaiting): PodTrouble | undefined {
  const found = waitingProblem(waiting);
  return found?.advice === image ? { ...found, advice: workerImage } : found;
}

const workerImage =
  "It is the operator's own image: let the nodes pull it, with spec.pod.imagePullSecrets where its registry asks who they are, or start the operator with -worker-image.";

/** Describes one that has failed; undefined while it has not. */
export function nameProblem(ended: ContainerStateTerminated | undefined): PodTrouble | undefined {
  if (ended === undefined) return undefined;
  const result = parseResult(ended.message ?? "");
  const words = result?.ok === false ? result.message : (ended.reason ?? `exit code ${ended.exitCode}`);
  return { problem: problemSentence("the container that waits for its name in DNS has failed", words) };
}

export function problemSentence(reason: string, message: string | undefined): string {
  // Some of them end with a full stop, and one is added behind all of them.
  const words = message?.trim().replace(/\.+$/, "") ?? "";
  return words === "" ? reason : `${reason}: ${shortened(words)}`;
}

/** Reads the few lines before its end. */
const limits = { container: etcdContainer, tailLines: 20, limitBytes: 65_536 };

/**
 * An etcd that has a value from a Secret leaves nothing of its log in the status of its pod. Whether it found no data must be
 * known all the same: three such members have lost everything, and do not come back by themselves. So its log is read, and
 * nothing of it is kept but that. One whose log cannot be read is not known to have lost anything.
 */
export async function withEndRead(
  pod: MemberPod,
  namespace: string,
  api: KubeApi,
  signal: AbortSignal,
): Promise<MemberPod> {
  const { guard, name, state } = pod;
  // Before its first start it exits like this when it finds nobody to join.
  if (state.t !== "crashing" || state.wordless !== true || guard !== "closed") return pod;
  const log = await api.log({ namespace, name }, { ...limits, signal }).catch(() => "");
  return foundNoData(log) ? { ...pod, state: { ...state, withoutData: true } } : pod;
}
