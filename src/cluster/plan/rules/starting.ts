// Members that never ran and are about to: what the others wait for, and for how long.
import type { Seat } from "../seats.ts";
import type { MemberPod } from "../../observe/world.ts";
import { problemOf } from "./remake.ts";

/** Milliseconds since a pod was made after which its silence is no start any more. */
const patience = 60_000;

/**
 * It is about to run for the first time. One that is held up is not waited for: it has no process that the others could
 * get in the way of, or none that will be of use.
 */
export function isStarting({ state, pod }: Seat, now: number): boolean {
  return state.t === "unstarted" && pod !== undefined && isComing(pod, now);
}

/** The same, of one that will run in a moment. */
export function isAboutToServe(seat: Seat, now: number): boolean {
  return isStarting(seat, now) && seat.pod !== undefined && isYoung(seat.pod, now);
}

/** Young enough to be looked at often. */
export function isYoung({ createdAt }: MemberPod, now: number): boolean {
  return now - createdAt < patience;
}

function isComing(pod: MemberPod, now: number): boolean {
  if (pod.terminating || problemOf(pod) !== undefined) return false;
  return pod.state.t !== "running" || isYoung(pod, now);
}
