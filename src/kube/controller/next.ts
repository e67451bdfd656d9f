// What a reconcile pass says when it ends: when its key is to be looked at next.

export type Next =
  /** The world is as it should be. The next change brings the key back. */
  | { readonly next: "done" }
  /** Something without an event of its own is to be looked at. */
  | { readonly next: "again"; readonly afterMs: number }
  /** Not yet as it should be, and what comes next is announced by a watch. */
  | { readonly next: "waitForEvent" }
  | {
      readonly next: "failed";
      readonly error: unknown;
      /** `never`: trying again would fail alike until somebody changes the object. */
      readonly retry: "backOff" | "never";
    };

export const done: Next = { next: "done" };
export const waitForEvent: Next = { next: "waitForEvent" };

export function again(afterMs: number): Next {
  return { next: "again", afterMs };
}

export function failed(error: unknown): Next {
  return { next: "failed", error, retry: "backOff" };
}

export function failedForGood(error: unknown): Next {
  return { next: "failed", error, retry: "never" };
}
