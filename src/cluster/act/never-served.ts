// The question before whatever would be a disaster for a cluster with data: has it served? The cache is not believed.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import { isKnownToHaveServed } from "../assess/health.ts";
import type { Execution } from "./execution.ts";
import { NotYet, whileCacheIsBehindMs } from "./outcome.ts";

export async function confirmNeverServed({ pass, cluster }: Execution): Promise<void> {
  const live = await pass.api.get(EtcdCluster, keyOf(cluster));
  if (live.metadata?.uid !== cluster.metadata.uid || isKnownToHaveServed(live.status ?? {}))
    throw new NotYet("the EtcdCluster has changed since it was looked at", whileCacheIsBehindMs);
}
