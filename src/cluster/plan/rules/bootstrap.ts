// The beginning: one seed, which starts a cluster of its own. It is made only when there is nothing that could be a
// cluster yet, and never again once one has served.
import type { Assessment } from "../../assess/assess.ts";
import { failureOf } from "../../assess/beginning.ts";
import { hasServed } from "../../assess/health.ts";
import { problemOf, stuckAt } from "../../assess/pods.ts";
import { seedName } from "../../objects/names.ts";
import type { MemberPod } from "../../observe/world.ts";
import type { ClusterDecision } from "../actions.ts";
import { listed, paceOf } from "../rule.ts";
import { deleteFailedSeed } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

/** For a cluster in which no etcd answers. */
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

function untilStuck(seed: MemberPod, { world, now }: Assessment): number {
  if (problemOf(seed) === undefined) return delays.atRest;
  return Math.min(delays.atRest, Math.max(delays.atOnce, stuckAt(seed, world) - now));
}
