// What the status of an EtcdCluster says.
import type { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";

type Condition = NonNullable<NonNullable<EtcdCluster["status"]>["conditions"]>[number];

export function conditionOf({ status }: EtcdCluster, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** The status of one that no operator has reconciled. */
export const unseen = { observedGeneration: -1 };
