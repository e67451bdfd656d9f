// What a rule is: a small function that looks at an assessed cluster and answers with a decision, or with nothing.
import type { Assessment } from "../assess/assess.ts";
import type { MemberPod } from "../observe/world.ts";
import type { Decision } from "./actions.ts";

export interface Situation extends Assessment {
  /** Gives numbers from 0 up to 1, for the names of new members. */
  readonly random: () => number;
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
  /** A person has to give the operator a login, in a Secret that is not watched. */
  untilLetIn: 10_000,
  /** etcd has no events: a member added by hand, a member that hangs. */
  slowly: 30_000,
} as const;

/**
 * How long to wait for a process that has just been started: it answers in a moment. The longer it takes, the less a
 * moment matters: after 20 s another one, and where a machine starts sixty at once they are not asked six hundred times
 * a second besides.
 */
export function paceOf({ createdAt }: MemberPod, now: number): number {
  return Math.min(Math.max((now - createdAt) / 20, pace.soon), pace.later);
}

export const listed = (names: readonly string[]): string => names.join(", ");
