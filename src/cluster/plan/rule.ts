// What a rule is: a small function that takes an assessed cluster and answers with a decision, or with nothing.
import type { Assessment } from "../assess/assess.ts";
import type { MemberPod } from "../observe/world.ts";
import type { ClusterDecision } from "./actions.ts";
import { delays } from "../../controllers/delays.ts";

export interface Situation extends Assessment {
  /** Gives numbers from 0 up to 1, for the names of new members. */
  readonly random: () => number;
}

/** Undefined: the rule has nothing to say, the next one is asked. */
export type Rule = (situation: Situation) => ClusterDecision | undefined;

/**
 * How long to wait for a process that has just been started: it answers in a moment. The longer it takes, the less a
 * moment matters: after 20 s another one, and where a machine starts sixty at once they are not asked six hundred times
 * a second besides.
 */
export function paceOf({ createdAt }: MemberPod, now: number): number {
  return Math.min(Math.max((now - createdAt) / 20, delays.soon), delays.later);
}

export const listed = (names: readonly string[]): string => names.join(", ");
