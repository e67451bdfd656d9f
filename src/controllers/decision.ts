// What every rule of a controller decides: actions as data, why, and when to reconcile again although nothing happened.

export interface Decision<Action> {
  /** Carried out in order; the first that fails ends it. */
  readonly actions: readonly Action[];
  /** In a sentence: why these, or why none. */
  readonly because: string;
  /** Milliseconds; undefined: events are enough. */
  readonly requeueAfter?: number | undefined;
}
