// What is wanted, as a value: how many members, and what a member that is made now is made of. That is the spec where it
// can be followed. Where it is wrong, members are still healed, with the last settings that were right; and a member is
// never made in a version that the others may not run beside.
import {
  type CompleteEtcdCluster,
  type CompleteSpec,
  imageOf,
  withDefaults,
} from "../../api/etcd-cluster/etcd-cluster.ts";
import { size as sizeRule } from "../../api/etcd-cluster/rules.ts";
import { stepBetween, whyByReplacement } from "../../etcd/versions/steps.ts";
import { compareVersions, parseVersion, sameMinor } from "../../etcd/versions/version.ts";
import { parseSettings, withValues } from "../objects/settings.ts";
import type { PodTls } from "../objects/tls.ts";
import type { Claim, MemberPod, Release, ClusterWorld } from "../observe/world.ts";
import { runs } from "./image-proof.ts";
import type { Roll } from "./roll.ts";
import type { Running } from "./target.ts";

export interface Desired {
  readonly size: number;
  /** One more than `size` while members are replaced by new ones, which join before they go. */
  readonly withSurge: number;
  /** The EtcdCluster as members are made from it now: its version, image and settings may be older than the spec's. */
  readonly cluster: CompleteEtcdCluster;
  /** What its pod speaks; undefined: none can be made now. */
  readonly tls: PodTls | undefined;
  /** Why no member can be made; undefined: one can. */
  readonly impossible: string | undefined;
}

/** The EtcdCluster as it is followed: as it is, or with the last settings that were valid. Undefined: nobody knows any. */
export function followedCluster(world: ClusterWorld): CompleteEtcdCluster | undefined {
  const { cluster, problems } = world;
  const spec = problems.length === 0 ? cluster.spec : lastValidSpec(world);
  return spec && { ...cluster, spec };
}

/** As many as there are when nobody can tell how many there should be. */
export function sizeOf({ cluster: { spec, status } }: ClusterWorld): number {
  return sizeRule.holds(spec.size) ? spec.size : Math.max(status.size, status.voters.length);
}

/** What the youngest pod was made from, or one that is gone and left its volume: all of it was right once. */
function lastValidSpec({ claims, cluster, pods }: ClusterWorld): CompleteSpec | undefined {
  const made: readonly Made[] = [
    ...pods.toSorted((a, b) => b.createdAt - a.createdAt),
    ...claims.flatMap(({ release, madeFrom }) => (release === undefined ? [] : [{ ...release, madeFrom }])),
  ];
  const known = [...pods.flatMap(({ etcdEnv = [] }) => etcdEnv), ...(cluster.spec.pod.etcdEnv ?? [])];
  for (const { madeFrom, version, image, resources } of made) {
    const read = madeFrom === undefined ? undefined : parseSettings(madeFrom);
    const settings = read && withValues(read, known);
    if (settings === undefined) continue;
    // Resources may have been changed since it was made.
    const pod = { ...settings.pod, ...(resources !== undefined && { resources }) };
    // What it had no settings of was left out, and must not be taken from the spec that is wrong.
    return withDefaults({ ...cluster, spec: { ...cluster.spec, pod, etcd: settings.etcd ?? {}, version, image } }).spec;
  }
  return undefined;
}

interface Made extends Release {
  readonly madeFrom?: string | undefined;
  readonly resources?: MemberPod["resources"];
}

/**
 * In which version and from which image a member is made now. A minor version is changed by the roll, with its checks:
 * never because a member had to be replaced before it began. Once it has begun, a new member need not be changed again,
 * unless the first one that was changed does not come up.
 *
 * - 3.5.21 everywhere, 3.5.35 wanted: 3.5.35. Patches of one minor work together in any order.
 * - 3.5.35 everywhere, 3.6.16 wanted: 3.5.35, until a member runs 3.6.16.
 */
export function releaseToMake(
  { spec }: CompleteEtcdCluster,
  { target, release, stopped, surge }: Roll,
  { versions }: Running,
  { claims, pods }: Pick<ClusterWorld, "claims" | "pods">,
): Release {
  const hasBegun = versions.length === 0 || versions.some((v) => sameMinor(v, target.now));
  const isByHand = spec.updateStrategy === "OnDelete" && target.refused === undefined;
  const mayBegin = hasBegun || surge === 1 || isByHand;
  return mayBegin && stopped === undefined ? release : (commonest(pods, claims) ?? release);
}

/**
 * What a member runs in a new pod on the volume that it has. Within a minor version that is what it ran last: another image
 * is proved on its node first, by the roll, unless the person changes members by deleting their pods. In another minor
 * version than the others are made in it might not start any more; but its data is not taken where it must not be.
 */
export function releaseOnVolume({ release }: Claim, made: Release, { spec }: CompleteEtcdCluster): Release {
  const [from, to] = [parseVersion(release?.version ?? ""), parseVersion(made.version)];
  if (release === undefined || from === undefined || to === undefined) return made;
  if (sameMinor(from, to) && spec.updateStrategy === "RollingUpdate") return release;
  const isNewer = compareVersions(from, to) <= 0;
  return stepBetween(from, to).t === "refused" || (isNewer && whyByReplacement(from, to) !== undefined)
    ? release
    : made;
}

/** What most of them run, or ran last, those that were changed and have not come up aside. */
function commonest(pods: readonly MemberPod[], claims: readonly Claim[]): Release | undefined {
  const settled: readonly Release[] = [
    ...pods.filter(({ changedFrom, version }) => changedFrom === undefined && version !== ""),
    ...withoutPods(claims, pods).flatMap(({ release }) => (release === undefined ? [] : [release])),
  ];
  const count = (one: Release): number => settled.filter((other) => runs(other, one)).length;
  const [first] = settled.toSorted((a, b) => count(b) - count(a));
  return first && { version: first.version, image: first.image };
}

/** For members that have a volume and no pod. */
export function withoutPods(claims: readonly Claim[], pods: readonly MemberPod[]): readonly Claim[] {
  return claims.filter(({ name, role }) => role === "current" && !pods.some((pod) => pod.name === name));
}

/** `spec.image` holds the version that was asked for. Another one is taken from where it served. */
export function imageFor(
  version: string,
  spec: CompleteSpec,
  { claims, pods }: Pick<ClusterWorld, "claims" | "pods">,
): string {
  if (version === spec.version) return imageOf(spec);
  const served: readonly Release[] = [
    ...pods.map((pod) => pod.changedFrom ?? pod),
    ...claims.flatMap(({ release }) => (release === undefined ? [] : [release])),
  ];
  const other = served.find((release) => release.version === version && release.image !== "");
  return other?.image ?? imageOf({ repository: spec.repository, version });
}

/** Whatever version the spec asks for. */
export function madeOf(cluster: CompleteEtcdCluster, { version, image }: Release): CompleteEtcdCluster {
  return { ...cluster, spec: { ...cluster.spec, version, image } };
}
