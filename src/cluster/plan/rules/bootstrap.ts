// The beginning: one seed, which starts a cluster of its own. It is made only when there is nothing that could be a
// cluster yet, and never again once one has served.
import type { Assessment } from "../../assess/assess.ts";
import { claimOf, isHeldBy, volumeLossOf } from "../../assess/claims.ts";
import { hasServed } from "../../assess/health.ts";
import { isNodeLost, isOutdatedAndUnheard, isStuck, problemOf, stuckAt } from "../../assess/pods.ts";
import { seedName } from "../../objects/names.ts";
import type { MemberPod } from "../../observe/world.ts";
import type { ClusterDecision } from "../actions.ts";
import { listed, paceOf } from "../rule.ts";
import { deleteFailedSeed } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

/** Of a cluster in which no etcd answers. */
export function bootstrap(assessment: Assessment): ClusterDecision | undefined {
  const { world, now } = assessment;
  if (hasServed(world)) return undefined;
  const [seed, ...more] = world.pods;
  if (seed === undefined) {
    const member = seedName(world.cluster);
    return { actions: [{ do: "createSeed", member }], because: `${member} is the seed of a new cluster` };
  }
  if (more.length > 0)
    return {
      actions: [],
      because: `none of ${listed(world.pods.map(({ name }) => name))} answers yet`,
      requeueAfter: delays.later,
    };
  const failure = failureOf(seed, assessment);
  if (failure !== undefined) {
    const actions = deleteFailedSeed(assessment, failure);
    const because = `the seed ${seed.name} never answered and is made again: ${failure}`;
    return { actions, because, requeueAfter: delays.atRest };
  }
  const requeueAfter = seed.state.t === "running" ? paceOf(seed, now) : untilStuck(seed, assessment);
  return { actions: [], because: `the seed ${seed.name} is starting`, requeueAfter };
}

function failureOf(seed: MemberPod, { world, desired, now }: Assessment): string | undefined {
  if (seed.state.t === "ended") return `its pod has ended (${seed.state.problem})`;
  if (isNodeLost(seed, world, now)) return "its node is gone";
  const claim = claimOf(world.claims, seed.name);
  // One that runs may have served, and its data is there as long as it is.
  if (seed.hasVolume && !isHeldBy(seed, claim) && volumeLossOf(claim) !== undefined) return volumeLossOf(claim);
  if (isOutdatedAndUnheard(seed, desired)) return "it has not answered, and its settings have changed";
  return isStuck(seed, world, desired, now) ? `it does not start (${problemOf(seed)})` : undefined;
}

function untilStuck(seed: MemberPod, { world, now }: Assessment): number {
  if (problemOf(seed) === undefined) return delays.atRest;
  return Math.min(delays.atRest, Math.max(delays.atOnce, stuckAt(seed, world) - now));
}
