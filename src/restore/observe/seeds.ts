// The first members of the restored cluster, by the init containers that make their data.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { jobIn, lastResultOf, restoreContainer } from "../../worker/pod.ts";
import { isTokenOf } from "../objects/seed.ts";
import type { Seed } from "./world.ts";

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
function tokenIn(pod: Pod): string {
  const job = jobIn(pod, restoreContainer);
  return job?.do === "restore" ? job.token : "";
}
