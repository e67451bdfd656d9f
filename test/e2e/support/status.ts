// Reads the status of an EtcdCluster.
import type { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";

type Condition = NonNullable<NonNullable<EtcdCluster["status"]>["conditions"]>[number];

export function conditionOf({ status }: EtcdCluster, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Undefined until the operator has reported it. */
export function updatedMembersOf({ status }: EtcdCluster): number | undefined {
  const updated: unknown = new Map<string, unknown>(Object.entries(status ?? {})).get("updatedMembers");
  return typeof updated === "number" ? updated : undefined;
}
