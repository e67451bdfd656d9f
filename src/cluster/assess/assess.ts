// Judges what was observed, once: members as seats, the cluster's health, what is wanted. Plan and report read this and
// nothing else, so that what is done and what is said cannot differ.
import type { MemberId } from "../../etcd/ids.ts";
import { learnersAdmitted } from "../../etcd/versions/features.ts";
import { type EtcdVersion, oldestVersion, parseVersion, version } from "../../etcd/versions/version.ts";
import type { World } from "../observe/world.ts";
import { type Desired, desiredOf } from "./desired.ts";
import { type Health, healthOf } from "./health.ts";
import { isVoter, type Seat, seatsOf } from "./seats.ts";

export interface Assessment {
  readonly world: World;
  readonly now: number;
  readonly desired: Desired;
  readonly health: Health;
  /** Empty while nobody says who the members are. */
  readonly seats: readonly Seat[];
  /** Those that are ours: the ones that `spec.size` counts. */
  readonly ours: readonly Seat[];
  readonly voters: readonly Seat[];
  readonly learners: readonly Seat[];
  readonly leader: MemberId | undefined;
  /** The oldest that runs: what it cannot do, the cluster cannot. */
  readonly version: EtcdVersion;
  /** How many learners every server admits: one that was started without the setting admits one. */
  readonly learnersAdmitted: number;
}

export function assess(world: World, now: number): Assessment {
  const seats = "members" in world.etcd ? seatsOf(world, world.etcd, now) : [];
  return {
    world,
    now,
    desired: desiredOf(world),
    health: healthOf(world, seats),
    seats,
    ours: seats.filter(({ state }) => state.t !== "foreign"),
    voters: seats.filter(isVoter),
    learners: seats.filter((seat) => !isVoter(seat)),
    leader: leaderOf(seats),
    version: oldestVersion(runningIn(seats)) ?? parseVersion(world.cluster.spec.version) ?? version("3.2.0"),
    learnersAdmitted: Math.min(...seats.filter(isVoter).filter(isThere).map(admittedBy)),
  };
}

/** As the healthy member of the highest term says: one that has been cut off, or has lost its data, may say another. */
function leaderOf(seats: readonly Seat[]): MemberId | undefined {
  const statuses = seats.flatMap(({ alive, answer }) => (alive && answer !== undefined ? [answer.status] : []));
  const [best] = statuses.filter(({ leader }) => leader !== undefined).toSorted((a, b) => b.raftTerm - a.raftTerm);
  return best?.leader;
}

function runningIn(seats: readonly Seat[]): EtcdVersion[] {
  return seats.flatMap(({ answer }) => {
    const running = answer === undefined ? undefined : parseVersion(answer.status.version);
    return running === undefined ? [] : [running];
  });
}

const isThere = ({ pod, answer }: Seat): boolean => pod !== undefined || answer !== undefined;

/** One that cannot be asked admits what the least capable of its pod's version would. */
function admittedBy({ answer, pod }: Seat): number {
  const running = parseVersion(answer?.status.version ?? pod?.version ?? "");
  return running === undefined ? 1 : learnersAdmitted(running, pod?.maxLearners);
}
