// One reconcile of one EtcdRestore: observe, plan, act, report. What has been written so far is all that it knows, so an
// operator that dies anywhere is followed by one that carries on.
import { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import { eventOf } from "../controllers/event.ts";
import { nextReconcile } from "../controllers/next-reconcile.ts";
import { again, done, type Next, type ReconcileContext } from "../kube/controller/run-reconcile.ts";
import type { Key } from "../kube/objects/objects.ts";
import { act } from "./act/act.ts";
import type { RestoreContext } from "./context.ts";
import { observe, type ObservedRestore } from "./observe/observe.ts";
import { planRestore } from "./plan/plan.ts";
import { report } from "./report/report.ts";

export async function reconcileRestore(key: Key, reconcile: ReconcileContext, context: RestoreContext): Promise<Next> {
  const observed = await observe(key, reconcile, context);
  if (observed.t === "notOurs")
    return context.unclaimed.leave(key, context.caches(key.namespace).restores.get(key), reconcile);
  if (observed.t === "others") return tellIfNobodyTakesIt(observed, context);
  const { world } = observed;
  const { decision, upkeep } = planRestore(world, context.now());
  const execution = { world, reconcile, context };
  const outcome = await act(decision, upkeep, execution);
  const reported = await report(outcome, execution);
  const { decision: ended, obstacle } = outcome;
  return nextReconcile({ obstacle, requeueAfter: ended.requeueAfter }, reported);
}

const patienceMs = 30_000;

/** It goes with its cluster. An operator of all namespaces speaks up where the one that it is for does not seem to be there. */
function tellIfNobodyTakesIt({ restore }: Extract<ObservedRestore, { t: "others" }>, context: RestoreContext): Next {
  if (context.scope !== "clusterwide" || restore.status.phase !== undefined) return done;
  const age = context.now() - Date.parse(restore.metadata.creationTimestamp ?? "");
  if (age < patienceMs) return again(patienceMs - age);
  const note =
    "Its EtcdCluster is for an operator of its namespace, and none has begun with the restore: give the EtcdCluster the annotation etcd.database.coreos.com/scope: clusterwide, or run an operator in the namespace.";
  context.events.record(EtcdRestore, restore, eventOf(["notTaken", note], "Restore"));
  return done;
}
