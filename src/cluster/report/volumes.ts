// What is said about volumes that members are about to lose.
import type { Assessment } from "../assess/assess.ts";

/** Undefined: every member that serves has a volume that outlives its pod, or none. */
export function doomedSentence({ instances, world }: Assessment): string | undefined {
  const doomed = instances.flatMap(({ name, state }) => (state.t === "doomed" ? [`${name} (${state.because})`] : []));
  if (doomed.length === 0) return undefined;
  const what = `These members serve on volumes that last only as long as their pods: ${doomed.join(", ")}.`;
  const next = world.cluster.spec.paused
    ? "The cluster is paused, so they are not replaced: keep their pods, and set spec.paused to false."
    : "Each is replaced by a member on a new volume, which joins before the old one goes: leave their pods alone.";
  return `${what} ${next}`;
}
