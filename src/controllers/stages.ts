// What passes between the stages of every controller: observe → (assess) → plan → act → report.
import type { ReconcileContext } from "../kube/controller/run-reconcile.ts";

export type Observed<World> =
  | { readonly t: "world"; readonly world: World }
  /** There is none, it is going, or it is another operator's. */
  | { readonly t: "notOurs" }
  /** The caches are not filled yet, or may not be read. */
  | { readonly t: "unseen" };

export interface Execution<World, Context> {
  readonly world: World;
  readonly reconcile: ReconcileContext;
  readonly context: Context;
}
