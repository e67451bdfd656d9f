// What the claim of a member's volume means for its member: whether its data is there, and whether the volume is the one
// that is asked for.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { requestOf, requestTextOf } from "../objects/claims.ts";
import type { MemberName } from "../objects/names.ts";
import { parseSettings } from "../objects/settings.ts";
import type { Claim, MemberPod, ClusterWorld } from "../observe/world.ts";
import { isDeepStrictEqual } from "node:util";

/** Belongs to a member that was not removed. */
export function claimOf(claims: readonly Claim[], member: MemberName): Claim | undefined {
  return claims.find(({ name, role }) => name === member && role === "current");
}

/**
 * Those that may hold the data of this cluster. Once it has been restored, those of the cluster before are kept for people
 * and count for nothing.
 */
export function countedClaims({ claims, cluster }: Pick<ClusterWorld, "claims" | "cluster">): readonly Claim[] {
  return cluster.status.restore === undefined ? claims : claims.filter(({ role }) => role === "current");
}

/** There is a volume, and nobody takes it away. */
export const holds = ({ phase, terminating }: Claim): boolean => phase === "Bound" && !terminating;

/** Why the volume under a pod does not outlive it, in words; undefined: it does. */
export function volumeLossOf(claim: Claim | undefined): string | undefined {
  if (claim === undefined) return "the claim of its volume is gone";
  if (claim.terminating) return "the claim of its volume is being deleted";
  return claim.phase === "Lost" ? "its volume is lost" : undefined;
}

/**
 * A claim that is being deleted stays as long as a pod on a node uses it (pvc-protection), and its volume with it: the data
 * is there for as long as that pod.
 */
export function isHeldBy(pod: MemberPod, claim: Claim | undefined): boolean {
  if (claim?.terminating !== true || claim.phase !== "Bound" || pod.terminating) return false;
  return pod.state.t === "running" || pod.state.t === "crashing";
}

/** It has started before, with data in this volume: by the operator's word. */
export const hasBegun = ({ clusterId }: Claim): boolean => clusterId !== undefined;

/**
 * Why only another volume can give the member what is asked for, in words; undefined: it has the right one, or one that
 * can be made so. A pod that does not say what it was made from is not known to differ.
 */
export function needsOtherVolume(
  pod: MemberPod,
  claim: Claim | undefined,
  { spec }: CompleteEtcdCluster,
): string | undefined {
  const { persistentVolumeClaimSpec: wanted } = spec.pod;
  const madeFrom = pod.madeFrom === undefined ? undefined : parseSettings(pod.madeFrom);
  if (wanted === undefined) return pod.hasVolume && madeFrom !== undefined ? "it must not have a volume" : undefined;
  if (!pod.hasVolume) return madeFrom === undefined ? undefined : "it must have a volume";
  const before = madeFrom?.pod?.persistentVolumeClaimSpec;
  if (before !== undefined && !isDeepStrictEqual(besidesSize(before), besidesSize(wanted)))
    return "it must have another kind of volume";
  const isRefused = claim?.cannotGrow === requestTextOf(wanted) && claim.requested < (requestOf(wanted) ?? 0);
  return isRefused ? "its volume cannot grow" : undefined;
}

function besidesSize(spec: NonNullable<CompleteEtcdCluster["spec"]["pod"]["persistentVolumeClaimSpec"]>): object {
  const { resources, ...rest } = spec;
  const { requests, ...others } = resources ?? {};
  const { storage: _, ...more } = requests ?? {};
  return { ...rest, ...others, ...more };
}
