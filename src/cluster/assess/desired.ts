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
import { versionToRun } from "../../etcd/versions/steps.ts";
import { formatVersion, parseVersion } from "../../etcd/versions/version.ts";
import { parseSettings } from "../objects/settings.ts";
import type { MemberPod, World } from "../observe/world.ts";
import { isKnownToHaveServed } from "./health.ts";

export interface Desired {
  readonly size: number;
  /** The EtcdCluster as members are made from it now: its version, image and settings may be older than the spec's. */
  readonly cluster: CompleteEtcdCluster;
  /** Why no member can be made; undefined: one can. */
  readonly impossible: string | undefined;
}

export function desiredOf(world: World): Desired {
  const { cluster, problems } = world;
  const spec = problems.length === 0 ? cluster.spec : lastValidSpec(world);
  if (spec === undefined) return { size: cluster.spec.size, cluster, impossible: problems.join(" ") };
  return { size: sizeOf(world), cluster: { ...cluster, spec: inRightVersion(spec, world) }, impossible: undefined };
}

/** As many as there are when nobody can tell how many there should be. */
function sizeOf({ cluster: { spec, status } }: World): number {
  return sizeRule.holds(spec.size) ? spec.size : Math.max(status.size, status.voters.length);
}

/** What the youngest pod was made from: all of it was right once. */
function lastValidSpec({ cluster, pods }: World): CompleteSpec | undefined {
  for (const { madeFrom, version, image, resources } of pods.toSorted((a, b) => b.createdAt - a.createdAt)) {
    const settings = madeFrom === undefined ? undefined : parseSettings(madeFrom);
    if (settings === undefined) continue;
    const { TLS: _, ...asked } = cluster.spec;
    // Resources may have been changed since it was made.
    const pod = { ...settings.pod, ...(resources !== undefined && { resources }) };
    // What it had no settings of was left out, and must not be taken from the spec that is wrong.
    return withDefaults({ ...cluster, spec: { ...asked, pod, etcd: settings.etcd ?? {}, version, image } }).spec;
  }
  return undefined;
}

function inRightVersion(spec: CompleteSpec, world: World): CompleteSpec {
  const wanted = parseVersion(spec.version);
  const running = runningVersions(world).map(parseVersion);
  if (wanted === undefined) return spec;
  const version = formatVersion(
    versionToRun(
      running.filter((one) => one !== undefined),
      wanted,
    ),
  );
  if (version === spec.version) return spec;
  return { ...spec, version, image: imageFor(version, spec, world.pods) };
}

/** As the members say; as their pods were made when none answers. A cluster that has yet to begin runs none. */
function runningVersions({ cluster, etcd, pods }: World): string[] {
  const answers = "answers" in etcd ? [...etcd.answers.values()] : [];
  if (answers.length > 0) return answers.map(({ status }) => status.version);
  return isKnownToHaveServed(cluster.status) ? pods.map(({ version }) => version) : [];
}

/** `spec.image` holds the version that was asked for. Another one is taken from where the others have it. */
function imageFor(version: string, spec: CompleteSpec, pods: readonly MemberPod[]): string {
  const other = pods.find((pod) => pod.version === version && pod.image !== "");
  return other?.image ?? imageOf({ repository: spec.repository, version });
}
