// What the spec asks of volumes that are there already, and they cannot do.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { requestOf, requestTextOf } from "../objects/claims.ts";
import type { Claim } from "./world.ts";

export function claimProblems({ spec }: CompleteEtcdCluster, claims: readonly Claim[]): string[] {
  const { persistentVolumeClaimSpec: claim } = spec.pod;
  const wanted = requestOf(claim);
  if (claim === undefined || wanted === undefined) return [];
  const inUse = claims.filter(
    ({ role, terminating, phase }) => role === "current" && !terminating && phase === "Bound",
  );
  const largest = Math.max(0, ...inUse.map(({ requested }) => requested));
  if (wanted >= largest) return [];
  return [
    `spec.pod.persistentVolumeClaimSpec.resources.requests.storage is ${requestTextOf(claim)}, and there are volumes of ${inGi(largest)}: volumes do not shrink. Set it to at least that. For smaller volumes, create a new cluster and copy the data.`,
  ];
}

/** As people write sizes: 5Gi, 512Mi, or in bytes. */
export function inGi(bytes: number): string {
  if (bytes % 2 ** 30 === 0) return `${bytes / 2 ** 30}Gi`;
  return bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20}Mi` : String(bytes);
}
