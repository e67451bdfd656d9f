// One look at one EtcdCluster and what follows from it. The same pass serves creation, an edit, a pod's death and a
// restart of the operator, for it knows nothing of what woke it.
import { again, done, failed, type Next, type ReconcileContext } from "../kube/controller/reconcile.ts";
import type { Key } from "../kube/objects/objects.ts";
import { act } from "./act/act.ts";
import type { Action, Plan } from "./plan/actions.ts";
import type { ClusterContext } from "./context.ts";
import { observe } from "./observe/observe.ts";
import { type Outcome, whileCacheIsBehindMs } from "./act/outcome.ts";
import { planCluster } from "./plan/plan.ts";
import { type Reported, report } from "./report/report.ts";
import { standingOf } from "./report/standing.ts";
import { turnOf } from "./act/turn.ts";
import type { World } from "./observe/world.ts";

export async function reconcileCluster(key: Key, pass: ReconcileContext, context: ClusterContext): Promise<Next> {
  const started = pass.clock.now();
  let ended: Ended = "failed";
  try {
    const world = await observe(key, pass, context);
    ended = "nothing";
    if (world === undefined) return done; // deleted, going, or another operator's: owner references clean up
    ended = "failed";
    const plan = planCluster(world, context.now());
    const turn = turnOf(world, pass, context);
    const outcome = await act(plan.actions, turn);
    const reported = await report(turn, outcome);
    ended = endOf(world, outcome);
    return nextLook(plan, outcome, reported);
  } finally {
    if (ended !== "nothing") context.metrics.pass(ended, (pass.clock.now() - started) / 1000);
  }
}

type Ended = Outcome["t"] | "lostQuorum" | "nothing";

/** A pass that could do nothing for want of a quorum has not succeeded, though nothing went wrong in it. */
function endOf(world: World, { t }: Outcome): Ended {
  const standing = standingOf(world).t;
  return standing === "quorumLost" || standing === "dataLost" ? "lostQuorum" : t;
}

/** etcd tells nobody when a member stops answering: even a cluster at rest is looked at now and then. */
const atRestMs = 30_000;
/** What a person has to mend may be mended where no watch sees it, as a quota. */
const afterRefusalMs = 10_000;
/** What was done to etcd brings no event. */
const soonMs = 20;

const withoutEvent: ReadonlySet<Action["do"]> = new Set([
  "addMember",
  "promote",
  "updatePeerUrl",
  "moveLeader",
  "removeMember",
]);

export function nextLook(plan: Plan, outcome: Outcome, reported: Reported): Next {
  const unseen = outcome.did.some((action) => withoutEvent.has(action.do));
  switch (outcome.t) {
    case "failed":
      return failed(outcome.error);
    case "refused":
      return again(afterRefusalMs);
    case "notYet":
      return again(unseen ? soonMs : outcome.againAfter);
    case "done":
      break;
  }
  if (unseen) return again(soonMs);
  if (reported === "outdated") return again(whileCacheIsBehindMs);
  if (reported === "refused") return again(afterRefusalMs);
  return again(Math.min(plan.lookAgainAfter ?? atRestMs, atRestMs));
}
