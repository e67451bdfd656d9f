// The status of a cluster, as it was assessed. What could not be seen this time stays as it was.
import type { CompleteStatus, EtcdClusterStatus } from "../../api/etcd-cluster/etcd-cluster.ts";
import { withConditions } from "../../kube/objects/conditions.ts";
import { minorOf, parseVersion } from "../../etcd/versions/version.ts";
import { statusSchema } from "../../api/etcd-cluster/status.ts";
import { statusPatch } from "../../controllers/status-patch.ts";
import type { Assessment } from "../assess/assess.ts";
import { certificateStatus } from "./certificates.ts";
import { adviceOn, conclusionsOf, versionsOf } from "./conditions.ts";
import { ports, selectorOf } from "../objects/labels.ts";
import { clientUrlOf } from "../objects/names.ts";
import { schemeOf } from "../objects/tls.ts";
import { spaceOf } from "../assess/space.ts";
import type { ClusterOutcome } from "../act/outcome.ts";
import { clientServiceName } from "../objects/services.ts";
import { isKnownToHaveServed } from "../assess/health.ts";
import { highestRevisionIn, withoutPlan } from "../assess/restoring.ts";
import type { ClusterWorld } from "../observe/world.ts";
import { stamped } from "../../controllers/report-status.ts";

export function statusOf(assessment: Assessment, outcome: ClusterOutcome): EtcdClusterStatus {
  const { desired, world } = assessment;
  const { cluster } = world;
  const now = new Date(assessment.now);
  // Nobody leads until somebody is seen to.
  const conclusions = conclusionsOf(assessment, outcome);
  const {
    reason: _,
    leader: __,
    certificates: ___,
    clientSecret: ____,
    clientSecretChecksum: _____,
    ...before
  } = cluster.status;
  // Nothing is said about certificates any more where there are none.
  const isSaid = (type: string): boolean => conclusions.some((conclusion) => conclusion.type === type);
  const still = before.conditions.filter(({ type }) => type !== "CertificatesValid" || isSaid(type));
  return {
    ...before,
    ...phaseOf(before, assessment),
    ...membersOf(assessment),
    ...recordedBy(outcome, before.restore),
    ...logVersion(assessment, outcome),
    updatedMembers: assessment.roll.updated,
    ...versions(world),
    ...certificateStatus(assessment),
    conditions: stamped(before.conditions, withConditions(still, conclusions, now), now),
    controlPaused: cluster.spec.paused,
    serviceName: clientServiceName(desired.cluster),
    clientPort: ports.client,
    members: podsByReadiness(world),
    selector: selectorOf(cluster),
    observedGeneration: cluster.metadata.generation ?? 0,
  };
}

/** Whose id it is was decided by the plan, and only there. */
function recordedBy(
  { did }: ClusterOutcome,
  restore: CompleteStatus["restore"],
): Pick<EtcdClusterStatus, "clusterId" | "restore"> {
  const recorded = did.find((action) => action.do === "recordClusterId");
  if (recorded === undefined) return {};
  return {
    clusterId: recorded.clusterId,
    ...(restore?.phase === "Seeding" && { restore: withoutPlan(restore) }),
  };
}

/**
 * The oldest minor version that may have written what is in the raft logs: the first member's when the cluster begins, or
 * an older one that a member has run since. The change of members raises it.
 */
function logVersion({ version, world: { cluster, etcd } }: Assessment, { did }: ClusterOutcome): EtcdClusterStatus {
  const recorded = did.find((action) => action.do === "recordLogVersion");
  if (recorded !== undefined) return { raftLogVersion: recorded.version };
  const begun = did.find((action) => action.do === "recordClusterId")?.logVersion;
  if (begun !== undefined) return { raftLogVersion: begun };
  const { raftLogVersion } = cluster.status;
  const known = parseVersion(`${raftLogVersion ?? ""}.0`);
  const isOlder = etcd.t === "quorum" && known !== undefined && version.minor < known.minor;
  return isOlder ? { raftLogVersion: minorOf(version) } : {};
}

function phaseOf(
  before: Pick<CompleteStatus, "phase">,
  { health, world }: Assessment,
): Pick<EtcdClusterStatus, "phase" | "reason"> {
  if (health.t === "restoring") return { phase: before.phase };
  // It keeps the operator out, and has yet to begin: from Running on nobody would make the members that it lacks.
  const isToBegin = world.cluster.status.restore?.phase === "Seeding" && !isKnownToHaveServed(world.cluster.status);
  if (health.t === "accessDenied" && !health.serves && isToBegin) return { phase: "Creating" };
  if (health.t === "creating") return { phase: world.problems.length > 0 ? before.phase : "Creating" };
  return health.t === "dataLost" ? { phase: "Failed", reason: adviceOn(health, world) } : { phase: "Running" };
}

function membersOf({ desired, leader, instances, voters, world }: Assessment): EtcdClusterStatus {
  const { etcd } = world;
  if (etcd.t === "accessDenied") return { ready: `${etcd.serving.length}/${desired.size}` };
  if (etcd.t !== "quorum") return { ready: `0/${desired.size}` };
  const started = instances.filter(({ member }) => member.name !== "");
  const statuses = [...etcd.answers.values()].map(({ status }) => status);
  const leading = started.find(({ member }) => member.id === leader);
  return {
    size: instances.length,
    voters: voters.map(({ name }) => name).sort(),
    ready: `${voters.filter(({ alive }) => alive).length}/${desired.size}`,
    clientEndpoints: started
      .map(({ name, pod }) => clientUrlOf(desired.cluster, name, schemeOf(pod?.tls.client === true)))
      .sort(),
    ...(leading === undefined ? {} : { leader: leading.name }),
    ...sizesOf(world),
    revision: Math.max(0, ...statuses.map((status) => status.revision)),
    highestRevision: highestRevisionIn(world),
  };
}

function sizesOf(world: ClusterWorld): EtcdClusterStatus {
  const space = spaceOf(world);
  if (space === undefined) return {};
  const { size, inUse, quota, volume } = space;
  return {
    dbSize: size,
    dbQuota: quota,
    ...(inUse !== undefined && { dbSizeInUse: inUse }),
    ...(volume !== undefined && { volumeSize: volume }),
  };
}

function versions(world: ClusterWorld): EtcdClusterStatus {
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

function podsByReadiness({ pods }: ClusterWorld): { ready: string[]; unready: string[] } {
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

/** Far less than a restore in place goes past it (restore/objects/seed.ts), so that a busy cluster is written this seldom. */
const revisionsBehind = 100_000_000;

/**
 * As a merge patch of the status; undefined when there is nothing worth a write. Size and revision of the database
 * change with every write of a client: they come along with other changes, and on their own only when the size has
 * moved by a quarter and by 16 MiB, so that a busy cluster at rest costs no writes to Kubernetes.
 */
export function patchBetween(before: EtcdClusterStatus, after: EtcdClusterStatus): object | undefined {
  const patch = statusPatch(statusSchema, before, after) ?? {};
  const isWorthIt = Object.keys(patch).some((name) =>
    name === "dbSize" ? movedMuch(before.dbSize, after.dbSize) : !comesAlong.has(name) || isBehind(before, after),
  );
  return isWorthIt ? patch : undefined;
}

const comesAlong: ReadonlySet<string> = new Set(["revision", "highestRevision", "dbSizeInUse"]);

const isBehind = (before: EtcdClusterStatus, after: EtcdClusterStatus): boolean =>
  (after.highestRevision ?? 0) - (before.highestRevision ?? 0) >= revisionsBehind;

function movedMuch(before = 0, after = 0): boolean {
  const moved = Math.abs(after - before);
  return moved > before / 4 && moved > 16 * 1024 ** 2;
}
