// One reconcile of one EtcdBackup: observe, plan, report what is intended, act. The same steps serve creation, an edit, the end
// of a worker, the time of a schedule and a restart of the operator, for they do not know what caused them.
import { delays } from "../controllers/delays.ts";
import { nextReconcile } from "../controllers/next-reconcile.ts";
import { again, type Next, type ReconcileContext } from "../kube/controller/run-reconcile.ts";
import type { Key } from "../kube/objects/objects.ts";
import { act } from "./act/act.ts";
import type { BackupContext } from "./context.ts";
import { observe } from "./observe/observe.ts";
import { planBackup } from "./plan/plan.ts";
import { report, reportRefusal } from "./report/report.ts";

export async function reconcileBackup(key: Key, reconcile: ReconcileContext, context: BackupContext): Promise<Next> {
  const observed = await observe(key, reconcile, context);
  if (observed.t === "unseen") return again(delays.cacheIsEmpty);
  if (observed.t === "notOurs") {
    context.metrics.forget(key);
    // Owner references clean up.
    return context.unclaimed.leave(key, context.caches(key.namespace).backups.get(key), reconcile);
  }
  const execution = { world: observed.world, reconcile, context };
  const plan = planBackup(execution.world, context.now());
  const reported = await report(plan, execution);
  // Without a status that says what is intended nothing may be done.
  if (reported === "outdated" || reported === "refused") return nextReconcile({}, reported);
  const obstacle = await act(plan.actions, execution);
  if (obstacle?.t === "refused" && reported === "unchanged") await reportRefusal(obstacle.because, plan, execution);
  return nextReconcile({ obstacle, requeueAfter: plan.decision?.requeueAfter }, reported);
}
