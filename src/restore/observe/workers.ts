// Reduces pods to what a decision needs: the worker of the attempt that is under way, and the first members of the restored cluster.
import { restoreContainer } from "../../cluster/objects/member-pod.ts";
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { jobVariable } from "../../worker/job.ts";
import { lastResultOf, resultOf } from "../../worker/pod.ts";
import { adviceOnEviction } from "../../worker/scratch.ts";
import { troubleOf } from "../../worker/trouble.ts";
import { isTokenOf } from "../objects/seed.ts";
import type { Seed, StepWorker } from "./world.ts";

/** `pod`: whatever has the worker's name. */
export function observedWorker(
  restore: CompleteEtcdRestore,
  name: string,
  pod: Pod | undefined,
  now: number,
): StepWorker {
  if (pod === undefined)
    return restore.status.pod === name
      ? { t: "lost", pod: name, because: `The pod ${name} was deleted before it had ended.` }
      : { t: "absent" };
  if (!isControlledBy(pod, restore)) return { t: "foreign", pod: name };
  const result = resultOf(pod);
  const { phase, reason = "", message = "" } = pod.status ?? {};
  // What Kubernetes did to the pod explains more than what became of the program in it.
  const wasEnded = phase === "Failed" && reason !== "";
  if (result !== undefined && (result.ok || !wasEnded)) return { t: "ended", pod: name, result };
  const words = [reason, message.trim()].filter((word) => word !== "").join(": ");
  if (phase === "Failed") {
    const because = `The pod ${name} was terminated${words === "" ? "" : ` (${words})`}.`;
    const advice = adviceOnEviction(reason, message);
    return { t: "lost", pod: name, because: advice === undefined ? because : `${because} ${advice}` };
  }
  // On a node that is lost it may stay like this for ever.
  if (pod.metadata?.deletionTimestamp !== undefined)
    return { t: "lost", pod: name, because: `The pod ${name} was deleted before it had ended.` };
  return { t: "running", pod: name, trouble: troubleOf(pod, now) };
}

/** Those pods of the cluster whose data this very EtcdRestore makes. */
export function observedSeeds(
  { metadata: { uid = "" } }: CompleteEtcdRestore,
  cluster: CompleteEtcdCluster,
  pods: readonly Pod[],
): readonly Seed[] {
  return pods.filter((pod) => isControlledBy(pod, cluster) && isTokenOf(tokenIn(pod), uid)).map(observedSeed);
}

function observedSeed(pod: Pod): Seed {
  const member = pod.metadata?.name ?? "";
  const last = lastResultOf(pod, restoreContainer);
  if (last === undefined) return { t: "starting", member };
  const { result, restarts } = last;
  if (!result.ok) return { t: "failed", member, code: result.code, message: result.message, times: restarts + 1 };
  if (result.did.do !== "restore") return { t: "starting", member };
  return { t: "made", member, ...(result.did.restored && { backup: result.did.backup }) };
}

/** The token of its RestoreJob begins with the uid of an EtcdRestore; empty: it restores nothing. */
function tokenIn({ spec }: Pod): string {
  const container = spec?.initContainers?.find(({ name }) => name === restoreContainer);
  const text = container?.env?.find(({ name }) => name === jobVariable)?.value;
  if (text === undefined) return "";
  try {
    const job: unknown = JSON.parse(text);
    const token = typeof job === "object" && job !== null && "token" in job ? job.token : "";
    return typeof token === "string" ? token : "";
  } catch {
    return "";
  }
}
