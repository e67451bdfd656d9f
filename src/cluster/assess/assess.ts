// Judges what was observed, once: members as instances, the cluster's health, what is wanted. Plan and report read this and
// nothing else, so that what is done and what is said cannot differ.
import type { MemberId } from "../../etcd/ids.ts";
import { learnersAdmitted, oldestSupported } from "../../etcd/versions/features.ts";
import { type EtcdVersion, formatVersion, oldestVersion, parseVersion } from "../../etcd/versions/version.ts";
import type { ClusterWorld } from "../observe/world.ts";
import { type Certificates, certificatesOf } from "./certificates/certificates.ts";
import { type Desired, followedCluster, imageFor, madeOf, releaseToMake, sizeOf, withoutPods } from "./desired.ts";
import { type Health, hasServed, healthOf } from "./health.ts";
import { type Roll, rollOf } from "./roll.ts";
import { isDoomed, isVoter, type Instance, instancesOf } from "./instances.ts";
import { type Running, targetOf } from "./target.ts";

export interface Assessment {
  readonly world: ClusterWorld;
  readonly now: number;
  readonly desired: Desired;
  readonly health: Health;
  /** Empty while nobody says who the members are. */
  readonly instances: readonly Instance[];
  /** Those that are ours: the ones that `spec.size` counts. */
  readonly ours: readonly Instance[];
  readonly voters: readonly Instance[];
  readonly learners: readonly Instance[];
  readonly leader: MemberId | undefined;
  readonly certificates: Certificates;
  /** How members that are there get to what is wanted. */
  readonly roll: Roll;
  /** The oldest that runs: what it cannot do, the cluster cannot. */
  readonly version: EtcdVersion;
  /** How many learners every server admits: one that was started without the setting admits one. */
  readonly learnersAdmitted: number;
}

export function assess(world: ClusterWorld, now: number): Assessment {
  const instances = "members" in world.etcd ? instancesOf(world, world.etcd, now) : [];
  const ours = instances.filter(({ state }) => state.t !== "foreign");
  const leader = leaderOf(instances);
  const running = runningIn(world, instances);
  const followed = followedCluster(world);
  const cluster = followed ?? world.cluster;
  const size = sizeOf(world);
  const wanted = parseVersion(cluster.spec.version) ?? oldestSupported;
  const target = targetOf(wanted, running, cluster.spec.upgrade.path);
  const version = formatVersion(target.now);
  const release = { version, image: imageFor(version, cluster.spec, world) };
  const certificates = certificatesOf({ ...world, cluster }, now);
  const roll = rollOf({
    world,
    now,
    cluster,
    tls: certificates.pods,
    tlsUnfinished: certificates.unfinished,
    size,
    target,
    release,
    instances,
    ours,
    leader,
  });
  const made = releaseToMake(cluster, roll, running, world);
  return {
    world,
    now,
    desired: {
      size,
      withSurge: size + Math.max(roll.surge, ours.some(isDoomed) ? 1 : 0),
      cluster: madeOf(cluster, made),
      tls: certificates.pods,
      impossible: followed === undefined ? world.problems.join(" ") : undefined,
    },
    health: healthOf(world, instances, now),
    instances,
    ours,
    voters: instances.filter(isVoter),
    learners: instances.filter((instance) => !isVoter(instance)),
    leader,
    certificates,
    roll,
    version: oldestVersion(answeredVersions(instances)) ?? wanted,
    learnersAdmitted: Math.min(...instances.filter(isVoter).filter(isThere).map(admittedBy)),
  };
}

/**
 * As the members say. One that does not answer counts with what it last served in and, if its image was changed since,
 * with that, too: it may run either. A cluster that has yet to begin runs none.
 */
function runningIn(world: ClusterWorld, instances: readonly Instance[]): Running {
  const { claims, cluster, pods } = world;
  const { status } = cluster;
  const voters = instances.filter(isVoter);
  const statuses = voters.flatMap(({ answer }) => (answer === undefined ? [] : [answer.status]));
  const silent = voters.flatMap(({ answer, pod }) => (answer === undefined && pod !== undefined ? [pod] : []));
  const unheard = voters.length > 0 ? silent : hasServed(world) ? pods : [];
  const listed =
    voters.length > 0 ? claims.filter(({ name }) => voters.some((instance) => instance.name === name)) : claims;
  const texts = [
    ...statuses.map((one) => one.version),
    ...unheard.flatMap(({ changedFrom, version }) => [
      ...(changedFrom === undefined ? [] : [changedFrom.version]),
      version,
    ]),
    ...withoutPods(listed, pods).flatMap(({ release }) => (release === undefined ? [] : [release.version])),
  ];
  return {
    versions: texts.map(parseVersion).filter((one) => one !== undefined),
    storage: statuses.map(({ storageVersion }) => parseVersion(storageVersion ?? "")),
    downgrade: parseVersion(statuses.find((one) => one.downgrade !== undefined)?.downgrade ?? ""),
    log: parseVersion(`${status.raftLogVersion ?? ""}.0`),
  };
}

/** As the healthy member of the highest term says: one that has been cut off, or has lost its data, may say another. */
function leaderOf(instances: readonly Instance[]): MemberId | undefined {
  const statuses = instances.flatMap(({ alive, answer }) => (alive && answer !== undefined ? [answer.status] : []));
  const [best] = statuses.filter(({ leader }) => leader !== undefined).toSorted((a, b) => b.raftTerm - a.raftTerm);
  return best?.leader;
}

function answeredVersions(instances: readonly Instance[]): EtcdVersion[] {
  return instances.flatMap(({ answer }) => {
    const running = answer === undefined ? undefined : parseVersion(answer.status.version);
    return running === undefined ? [] : [running];
  });
}

const isThere = ({ pod, answer }: Instance): boolean => pod !== undefined || answer !== undefined;

/** One that cannot be asked admits what the least capable of its pod's version would. */
function admittedBy({ answer, pod }: Instance): number {
  const running = parseVersion(answer?.status.version ?? pod?.version ?? "");
  return running === undefined ? 1 : learnersAdmitted(running, pod?.maxLearners);
}
