// The status of a cluster, concluded from one look at the world. What could not be seen this time stays as it was.
import { isDeepStrictEqual } from "node:util";
import type { CompleteStatus, EtcdClusterStatus } from "../../api/etcd-cluster.ts";
import { type Condition, withConditions } from "../../kube/objects/conditions.ts";
import { secondsTime } from "../../kube/objects/objects.ts";
import { adviceOn, conclusionsOf, versionsOf } from "./conditions.ts";
import { ports, selectorOf } from "../objects/labels.ts";
import { clientUrlOf } from "../objects/names.ts";
import type { Outcome } from "../act/outcome.ts";
import { clientServiceName } from "../objects/services.ts";
import { type Standing, standingOf } from "./standing.ts";
import type { World } from "../observe/world.ts";

export function statusOf(world: World, outcome: Outcome, now: Date): EtcdClusterStatus {
  const { cluster } = world;
  const standing = standingOf(world);
  // Nobody leads until somebody is seen to.
  const { reason: _, leader: __, ...before } = cluster.status;
  return {
    ...before,
    ...phaseOf(before, standing, world),
    ...membersOf(world, standing),
    ...versions(world),
    conditions: stamped(
      before.conditions,
      withConditions(before.conditions, conclusionsOf({ world, standing, outcome, now: now.getTime() }), now),
      now,
    ),
    controlPaused: cluster.spec.paused,
    serviceName: clientServiceName(cluster),
    clientPort: ports.client,
    members: podsByReadiness(world),
    selector: selectorOf(cluster),
    observedGeneration: cluster.metadata.generation ?? 0,
  };
}

/** Since 2018 each tells when anything of it last changed. */
function stamped(
  before: readonly Condition[],
  after: readonly Condition[],
  now: Date,
): NonNullable<EtcdClusterStatus["conditions"]> {
  return after.map((one) => (before.includes(one) ? one : { ...one, lastUpdateTime: secondsTime(now) }));
}

function phaseOf(
  before: Pick<CompleteStatus, "phase">,
  standing: Standing,
  { problems }: World,
): Pick<EtcdClusterStatus, "phase" | "reason"> {
  if (standing.t === "creating") return { phase: problems.length > 0 ? before.phase : "Creating" };
  return standing.t === "dataLost" ? { phase: "Failed", reason: adviceOn(standing) } : { phase: "Running" };
}

function membersOf(world: World, standing: Standing): EtcdClusterStatus {
  const { cluster, etcd } = world;
  const { size } = cluster.spec;
  if (standing.t !== "serving" || etcd.t !== "quorum") return { ready: `0/${size}` };
  const { all, healthy } = standing.members;
  const statuses = [...etcd.answers.values()].map(({ status }) => status);
  const leading = all.find(({ id }) => statuses.some(({ leader, memberId }) => leader === id && memberId === id));
  return {
    clusterId: etcd.clusterId,
    size: all.length,
    ready: `${healthy.length}/${size}`,
    clientEndpoints: all
      .filter(({ name }) => name !== "")
      .map(({ name }) => clientUrlOf(cluster, name))
      .sort(),
    ...(leading === undefined ? {} : { leader: leading.name }),
    dbSize: Math.max(0, ...statuses.map((status) => status.dbSize)),
    revision: Math.max(0, ...statuses.map((status) => status.revision)),
  };
}

function versions(world: World): EtcdClusterStatus {
  const counts = versionsOf(world);
  const [only] = counts.keys();
  if (only === undefined) return {};
  const wanted = world.cluster.spec.version;
  return {
    versions: Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    ...(counts.size === 1 ? { currentVersion: only } : {}),
    targetVersion: counts.size === 1 && only === wanted ? "" : wanted,
  };
}

function podsByReadiness({ pods }: World): { ready: string[]; unready: string[] } {
  const running = pods.filter(
    ({ state, terminating }) => (state.t === "running" || state.t === "crashing") && !terminating,
  );
  const names = (ready: boolean): string[] =>
    running
      .filter((pod) => pod.ready === ready)
      .map((pod) => pod.name)
      .sort();
  return { ready: names(true), unready: names(false) };
}

/**
 * As a merge patch of the status; undefined when there is nothing worth a write. Size and revision of the database
 * change with every write of a client: they come along with other changes, and on their own only when the size has
 * moved by a quarter and by 16 MiB, so that a busy cluster at rest costs no writes to Kubernetes.
 */
export function patchBetween(before: EtcdClusterStatus, after: EtcdClusterStatus): Record<string, unknown> | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const old = new Map<string, unknown>(Object.entries(before));
  const fresh = new Map<string, unknown>(Object.entries(after));
  const changed = [...names].filter((name) => !isDeepStrictEqual(old.get(name), fresh.get(name)));
  const worthIt = changed.some((name) =>
    name === "dbSize" ? movedMuch(before.dbSize, after.dbSize) : name !== "revision",
  );
  return worthIt ? Object.fromEntries(changed.map((name) => [name, fresh.get(name) ?? null])) : undefined;
}

function movedMuch(before = 0, after = 0): boolean {
  const moved = Math.abs(after - before);
  return moved > before / 4 && moved > 16 * 1024 ** 2;
}
