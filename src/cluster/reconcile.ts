// One reconcile of one EtcdCluster: observe, assess, plan, act, report. The same steps serve creation, an edit, a pod's
// death and a restart of the operator, for they do not know what caused them.
import type { ReconcileContext } from "../kube/controller/run-reconcile.ts";
import { again, type Next } from "../kube/controller/run-reconcile.ts";
import type { Key } from "../kube/objects/objects.ts";
import { act } from "./act/act.ts";
import { isWatched } from "./act/actions.ts";
import { executionOf } from "./act/execution.ts";
import type { ClusterOutcome } from "./act/outcome.ts";
import { assess } from "./assess/assess.ts";
import type { Health } from "./assess/health.ts";
import type { ClusterContext } from "./context.ts";
import { observe } from "./observe/observe.ts";
import { planCluster } from "./plan/plan.ts";
import { report } from "./report/report.ts";
import { delays } from "../controllers/delays.ts";
import { nextReconcile } from "../controllers/next-reconcile.ts";
import type { Reported } from "../controllers/report-status.ts";

export async function reconcileCluster(key: Key, reconcile: ReconcileContext, context: ClusterContext): Promise<Next> {
  const started = reconcile.clock.now();
  let ended: Ended = "failed";
  try {
    const observed = await observe(key, reconcile, context);
    ended = "nothing";
    // Owner references clean up.
    if (observed.t !== "world")
      return await context.unclaimed.leave(key, context.caches(key.namespace).clusters.get(key), reconcile);
    ended = "failed";
    const assessment = assess(observed.world, context.now());
    const plan = planCluster(assessment);
    const execution = executionOf(assessment, reconcile, context);
    const outcome = await act(plan, execution);
    const reported = await report(execution, outcome);
    ended = endOf(assessment.health, outcome);
    return nextOf(outcome, reported);
  } finally {
    if (ended !== "nothing") context.metrics.reconcile(ended, (reconcile.clock.now() - started) / 1000);
  }
}

type Ended = "done" | "notYet" | "refused" | "failed" | "lostQuorum" | "nothing";

/** One that could do nothing without a quorum or without a login has not succeeded, though nothing went wrong in it. */
function endOf({ t }: Health, { obstacle }: ClusterOutcome): Ended {
  if (t === "accessDenied") return "refused";
  return t === "quorumLost" || t === "dataLost" ? "lostQuorum" : (obstacle?.t ?? "done");
}

export function nextOf({ did, decision, obstacle, passed }: ClusterOutcome, reported: Reported): Next {
  if (obstacle?.t !== "failed" && did.some((action) => !isWatched(action))) return again(delays.afterEtcd);
  const requeueAfter = Math.min(decision.requeueAfter ?? delays.atRest, delays.atRest);
  return nextReconcile({ obstacle, requeueAfter, hasRefusals: passed.length > 0 }, reported);
}
