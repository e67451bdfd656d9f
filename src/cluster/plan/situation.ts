// A cluster that can decide, as the rules see it; and what a rule answers with.
import type { MemberId } from "../../etcd/ids.ts";
import { type EtcdVersion, oldestVersion, parseVersion, version } from "../../etcd/versions/version.ts";
import type { Action } from "./actions.ts";
import type { Table } from "./safety.ts";
import { type Seat, seatsOf } from "./seats.ts";
import type { EtcdAnswers, World } from "../observe/world.ts";

export interface Situation extends Table {
  readonly random: () => number;
  /** Those that are ours: the ones that `spec.size` counts. */
  readonly ours: readonly Seat[];
  readonly voters: readonly Seat[];
  readonly learners: readonly Seat[];
  readonly leader: MemberId | undefined;
  /** The oldest that runs: what it cannot do, the cluster cannot. */
  readonly version: EtcdVersion;
}

export interface Decision {
  readonly actions: readonly Action[];
  readonly because: string;
  /** Milliseconds; undefined: whatever comes next is announced by an event. */
  readonly lookAgainAfter?: number;
}

/** Undefined: the rule has nothing to say, the next one is asked. */
export type Rule = (situation: Situation) => Decision | undefined;

/** In milliseconds. */
export const pace = {
  /** The world is known to have changed by what was just done. */
  atOnce: 0,
  /** A process is coming up, which takes a tenth of a second and has no event of its own. */
  soon: 100,
  /** etcd refuses for 5 s after a change of voters. */
  untilAccepted: 500,
  /** Something that should be up is not. */
  later: 2000,
  /** etcd has no events: a member added by hand, a member that hangs. */
  slowly: 30_000,
} as const;

export function situate(world: World, etcd: EtcdAnswers, now: number, random: () => number): Situation {
  const seats = seatsOf(world, etcd, now);
  const answers = [...etcd.answers.values()];
  const running = answers.map(({ status }) => parseVersion(status.version)).filter((one) => one !== undefined);
  return {
    world,
    now,
    random,
    seats,
    ours: seats.filter(({ state }) => state.t !== "foreign"),
    voters: seats.filter(({ member }) => !member.learner),
    learners: seats.filter(({ member }) => member.learner),
    leader: answers.find(({ healthy, status }) => healthy && status.leader !== undefined)?.status.leader,
    version: oldestVersion(running) ?? parseVersion(world.cluster.spec.version) ?? version("3.2.0"),
  };
}

export const listed = (names: readonly string[]): string => names.join(", ");
