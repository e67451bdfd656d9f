// What is known of an image before a member gets it: what came of the small pods that try it, node by node, and where it
// need not be tried.
import type { ImageCheck, MemberPod, Release, ClusterWorld } from "../observe/world.ts";
import { isVoter, type Instance } from "./instances.ts";

export interface Proof {
  readonly world: ClusterWorld;
  readonly release: Release;
  readonly ours: readonly Instance[];
}

export const runs = (pod: Release, { version, image }: Release): boolean =>
  pod.version === version && pod.image === image;

export function imageProblem(check: ImageCheck | undefined, { version }: Release): string | undefined {
  const { state } = check ?? {};
  if (state?.t === "failed") return `${state.problem}.`;
  if (state?.t === "found" && state.version !== version) return `it holds etcd ${state.version} and not ${version}.`;
  if (state?.t === "running" && state.problem !== undefined) return `${state.problem}.`;
  return undefined;
}

/** Its node takes no small pod beside the member, and the image was not seen to work elsewhere. */
export function isUntried(pod: MemberPod, { world, release, ours }: Proof): string | undefined {
  const check = checkFor(pod, release, world.imageChecks);
  return check?.state.t === "rejected" && !isProvedElsewhere(world, release, ours) ? check.state.problem : undefined;
}

/**
 * It holds what it should, and could be had. Among three or more, one member that cannot get it on its own node costs no quorum,
 * and stops the roll.
 */
export function isProvedElsewhere({ imageChecks }: ClusterWorld, release: Release, ours: readonly Instance[]): boolean {
  if (ours.filter(isVoter).length < 3) return false;
  const isFound = ({ image, state }: ImageCheck): boolean =>
    image === release.image && state.t === "found" && state.version === release.version;
  const serves = ({ alive, answer, pod }: Instance): boolean =>
    alive && pod !== undefined && runs(pod, release) && answer?.status.version === release.version;
  return imageChecks.some(isFound) || ours.some(serves);
}

export const nodeOf = ({ node }: MemberPod): string => (node.t === "none" ? "" : node.name);

export function checkFor(pod: MemberPod, { image }: Release, checks: readonly ImageCheck[]): ImageCheck | undefined {
  return checks.find((check) => check.node === nodeOf(pod) && check.image === image && !check.terminating);
}
