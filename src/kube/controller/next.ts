// What a reconcile returns: when its key is reconciled next.

export type Next =
  /** Nothing is left to do until something changes. */
  | { readonly next: "done" }
  /** Something changes without an event: requeue after this time. */
  | { readonly next: "again"; readonly afterMs: number }
  /** Retried with back-off. */
  | { readonly next: "failed"; readonly error: unknown };

export const done: Next = { next: "done" };

export function again(afterMs: number): Next {
  return { next: "again", afterMs };
}

export function failed(error: unknown): Next {
  return { next: "failed", error };
}
