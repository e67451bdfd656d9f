// The beginning: one seed, which starts a cluster of its own. It is made only when there is nothing that could be a
// cluster yet, and never again once one has served.
import { seedName } from "../../objects/names.ts";
import { deleteFailedSeed, hasServed } from "../safety.ts";
import { isNodeLost } from "../seats.ts";
import { type Decision, listed, pace } from "../situation.ts";
import type { MemberPod, World } from "../../observe/world.ts";
import { isOutdatedAndUnheard, isStuck, problemOf, stuckAt } from "./remake.ts";

/** Of a world in which no etcd answers. */
export function bootstrap(world: World, now: number): Decision | undefined {
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
      lookAgainAfter: pace.later,
    };
  const failure = failureOf(seed, world, now);
  if (failure !== undefined) {
    const actions = deleteFailedSeed(world, now, failure);
    const because = `the seed ${seed.name} never answered and is made again: ${failure}`;
    return { actions, because, lookAgainAfter: pace.slowly };
  }
  return { actions: [], because: `the seed ${seed.name} is starting`, lookAgainAfter: lookAgainFor(seed, world, now) };
}

function failureOf(seed: MemberPod, world: World, now: number): string | undefined {
  if (seed.state.t === "ended") return `its pod has ended (${seed.state.problem})`;
  if (isNodeLost(seed, world, now)) return "its node is gone";
  if (isOutdatedAndUnheard(seed, world)) return "it has not answered, and its settings have changed";
  return isStuck(seed, world, now) ? `it does not start (${problemOf(seed)})` : undefined;
}

function lookAgainFor(seed: MemberPod, { cluster }: World, now: number): number {
  if (seed.state.t === "running") return patienceWith(seed, now);
  if (problemOf(seed) === undefined) return pace.slowly;
  const untilStuck = stuckAt(seed, cluster.spec.failover.crashLoopAfterSeconds) - now;
  return Math.min(pace.slowly, Math.max(pace.atOnce, untilStuck));
}

/**
 * A process that has just been started answers in a moment. The longer it takes, the less a moment matters: after 20 s
 * another one, and where a machine starts sixty at once they are not asked six hundred times a second besides.
 */
export function patienceWith({ createdAt }: MemberPod, now: number): number {
  return Math.min(Math.max((now - createdAt) / 20, pace.soon), pace.later);
}
