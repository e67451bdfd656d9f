// Writes what must be in the status before anything is built on it; the rest is reported at the end of a reconcile.
import { EtcdCluster, type EtcdClusterStatus } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { ClusterExecution } from "./execution.ts";
import { patchStatus } from "../../controllers/report-status.ts";

/** `null`: the field goes. What is not named stays. */
type Patch = {
  readonly [name in keyof EtcdClusterStatus]: EtcdClusterStatus[name] | (name extends "restore" ? RestorePatch : null);
};

type Restore = NonNullable<EtcdClusterStatus["restore"]>;
type RestorePatch = { readonly [name in keyof Restore]?: Restore[name] | null };

export async function writeStatus(execution: ClusterExecution, status: Patch): Promise<void> {
  const { cluster, reconcile, written } = execution;
  execution.written = await patchStatus(EtcdCluster, written ?? cluster, status, reconcile);
}
