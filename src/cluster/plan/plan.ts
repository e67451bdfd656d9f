// What to do about a cluster, from what was seen of it and the time: a fixed list of rules, the first that has an answer
// wins. Nothing here does anything, and the same world gives the same plan.
import type { Action, Plan } from "./actions.ts";
import { bootstrap } from "./rules/bootstrap.ts";
import { grow, growBeforePromotions, makeMissingPods } from "./rules/grow.ts";
import { leaveAlone } from "./rules/leave-alone.ts";
import { waitForQuorum } from "./rules/lost-quorum.ts";
import { deleteOrphans } from "./rules/orphans.ts";
import { promoteLearners } from "./rules/promote.ts";
import { readdress } from "./rules/readdress.ts";
import { remakePods } from "./rules/remake.ts";
import { replaceLost } from "./rules/replace.ts";
import { shrink } from "./rules/shrink.ts";
import { exchangeUndialable, makeDialable } from "./rules/together.ts";
import { drift, lostLabels, missingServices } from "./rules/upkeep.ts";
import { wait } from "./rules/wait.ts";
import { type Decision, type Rule, situate } from "./situation.ts";
import type { World } from "../observe/world.ts";

/** For a cluster that can decide. What endangers it first, then what it lacks, then what would be nicer. */
const rules: readonly Rule[] = [
  makeDialable,
  replaceLost,
  deleteOrphans,
  shrink,
  readdress,
  growBeforePromotions,
  promoteLearners,
  exchangeUndialable,
  remakePods,
  makeMissingPods,
  // Members with volumes whose pods are gone: here, before new ones are made in their place.
  grow,
  // Renewed certificates, then upgrades: here, when nothing else is wrong.
];

/** `random` gives numbers from 0 up to 1, for the names of new members. */
export function planCluster(world: World, now: number, random: () => number = Math.random): Plan {
  const left = leaveAlone(world);
  if (left !== undefined) return planOf(left, left.actions);
  const decision = decide(world, now, random);
  return planOf(decision, [
    ...missingServices(world),
    ...lostLabels(world),
    ...newClusterId(world),
    ...decision.actions,
    ...drift(world),
  ]);
}

function decide(world: World, now: number, random: () => number): Decision {
  if (world.etcd.t === "noQuorum") return waitForQuorum(world, now);
  if (world.etcd.t !== "quorum") return bootstrap(world, now) ?? waitForQuorum(world, now);
  const situation = situate(world, world.etcd, now, random);
  for (const rule of rules) {
    const decision = rule(situation);
    if (decision !== undefined) return decision;
  }
  return wait(situation);
}

/** Latched before anything else is done to the cluster: from then on nothing starts another in its place. */
function newClusterId({ cluster, etcd }: World): readonly Action[] {
  if (cluster.status.clusterId !== undefined || (etcd.t !== "quorum" && etcd.t !== "noQuorum")) return [];
  return [{ do: "latchClusterId", clusterId: etcd.clusterId }];
}

function planOf({ because, lookAgainAfter }: Decision, actions: readonly Action[]): Plan {
  return { actions, because, lookAgainAfter };
}
