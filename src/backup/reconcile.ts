// One reconcile of one EtcdBackup: observe, plan, write down what is intended, act. The same steps serve creation, an edit,
// the end of a worker, the time of a schedule and a restart of the operator, for they do not know what caused them.
import { again, done, type Next, type ReconcileContext } from "../kube/controller/reconcile.ts";
import type { Key } from "../kube/objects/objects.ts";
import { act } from "./act.ts";
import type { BackupContext } from "./context.ts";
import { observe } from "./observe/observe.ts";
import { planBackup } from "./plan/plan.ts";
import { report, reportRefusal } from "./report.ts";
import { delays } from "../controllers/delays.ts";

export async function reconcileBackup(key: Key, reconcile: ReconcileContext, context: BackupContext): Promise<Next> {
  const observed = await observe(key, reconcile, context);
  if (observed.t === "unseen") return again(delays.cacheIsEmpty);
  if (observed.t === "gone") {
    context.metrics.forget(key);
    return notOurs(key, reconcile, context); // owner references clean up
  }
  const { view } = observed;
  const plan = planBackup(view, context.now());
  const reported = await report(plan, view, reconcile, context);
  if (reported === "outdated") return again(delays.cacheIsBehind);
  // Without a status that says what is intended nothing may be done.
  if (reported === "refused") return again(delays.untilCorrected);
  const acted = await act(plan.actions, view, reconcile, context);
  if (acted.t === "outdated") return again(delays.cacheIsBehind);
  if (acted.t === "refused") {
    if (reported === "unchanged") await reportRefusal(acted.message, plan, view, reconcile, context);
    return again(delays.untilCorrected);
  }
  return plan.requeueAt === undefined ? done : again(Math.max(0, plan.requeueAt - context.now()));
}

/** It is deleted, or another operator's. */
async function notOurs(key: Key, reconcile: ReconcileContext, context: BackupContext): Promise<Next> {
  const backup = context.caches(key.namespace).backups.get(key);
  if (backup !== undefined && !context.isOurs(backup)) return context.unclaimed.look(backup, reconcile);
  context.unclaimed.forget(key);
  return done;
}
