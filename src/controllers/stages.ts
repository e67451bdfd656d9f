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

/** What every rule decides. */
export interface Decision<Action> {
  /** Carried out in order; the first that fails ends it. */
  readonly actions: readonly Action[];
  /** In a sentence: why these, or why none. */
  readonly because: string;
  /** Milliseconds; undefined: events are enough. */
  readonly requeueAfter?: number | undefined;
}
