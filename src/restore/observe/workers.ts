// Reduces pods to what a decision needs: the worker of the attempt that is under way, and the seed of the restored cluster.
import { restoreContainer } from "../../cluster/objects/member-pod.ts";
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { jobVariable } from "../../worker/job.ts";
import { lastResultOf, resultOf } from "../../worker/pod.ts";
import { adviceOnEviction } from "../../worker/scratch.ts";
import { troubleOf } from "../../worker/trouble.ts";
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
    const because = `The pod ${name} was ended${words === "" ? "" : ` (${words})`}.`;
    const advice = adviceOnEviction(reason, message);
    return { t: "lost", pod: name, because: advice === undefined ? because : `${because} ${advice}` };
  }
  // On a node that is lost it may stay like this for ever.
  if (pod.metadata?.deletionTimestamp !== undefined)
    return { t: "lost", pod: name, because: `The pod ${name} was deleted before it had ended.` };
  return { t: "running", pod: name, trouble: troubleOf(pod, now) };
}

/** Of all pods of the cluster, that one whose data this very EtcdRestore makes; of several, one that has it. */
export function observedSeed(
  { metadata: { uid } }: CompleteEtcdRestore,
  cluster: CompleteEtcdCluster,
  pods: readonly Pod[],
): Seed {
  const seeds = pods
    .filter((pod) => isControlledBy(pod, cluster) && tokenOf(pod) === uid)
    .map((pod): Seed => {
      const member = pod.metadata?.name ?? "";
      const last = lastResultOf(pod, restoreContainer);
      if (last === undefined) return { t: "starting", member };
      const { result, restarts } = last;
      if (!result.ok) return { t: "failed", member, code: result.code, message: result.message, times: restarts + 1 };
      if (result.did.do !== "restore") return { t: "starting", member };
      return { t: "made", member, ...(result.did.restored && { backup: result.did.backup }) };
    });
  return seeds.find(({ t }) => t === "made") ?? seeds[0] ?? { t: "none" };
}

/** The token of its RestoreJob is the uid of an EtcdRestore; undefined: it restores nothing. */
function tokenOf({ spec }: Pod): unknown {
  const container = spec?.initContainers?.find(({ name }) => name === restoreContainer);
  const text = container?.env?.find(({ name }) => name === jobVariable)?.value;
  if (text === undefined) return undefined;
  try {
    const job: unknown = JSON.parse(text);
    return typeof job === "object" && job !== null && "token" in job ? job.token : undefined;
  } catch {
    return undefined;
  }
}
