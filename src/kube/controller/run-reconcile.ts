// One run of a reconcile function: what it is given, what it returns, its deadline, and the writes that it made.
import { follow } from "../abort.ts";
import type { KubeApi } from "../client/api.ts";
import type { Clock } from "../clock.ts";
import type { Fence } from "../leader/fence.ts";
import { parseKey, type Key } from "../objects/objects.ts";
import { recordingApi, type OwnWrite } from "./own-writes.ts";

/** What a reconcile returns: when its key is reconciled next. */
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

export interface ReconcileContext {
  /** For log lines: the same in all lines of one reconcile. */
  readonly id: string;
  readonly controller: string;
  /** Aborts at the deadline, when the controller stops, and when the reconcile has ended. */
  readonly signal: AbortSignal;
  /** Ends with the reconcile, and notes what is written so that the next one of this key waits for the caches. */
  readonly api: KubeApi;
  readonly clock: Clock;
  /** To be checked before whatever only a leader may do and does not go through `api`. */
  readonly fence: Fence;
}

export type Reconcile = (key: Key, context: ReconcileContext) => Promise<Next>;

/** Why the signal of a reconcile aborted before it had ended by itself. */
export type CutShort = "deadline" | "stop";

export class ReconcileAborted extends Error {
  readonly because: CutShort | "ended";

  constructor(because: CutShort | "ended") {
    super(`The reconcile was aborted: ${because}`);
    this.name = "ReconcileAborted";
    this.because = because;
  }
}

interface RunOptions {
  id: string;
  controller: string;
  key: string;
  api: KubeApi;
  clock: Clock;
  fence: Fence;
  deadlineMs: number;
  reconcile: Reconcile;
  /** Called at the deadline, when the reconcile is aborted; it is still waited for. */
  onOverdue: () => void;
}

interface RunEnd {
  next: Next;
  cutShort: CutShort | undefined;
  writes: readonly OwnWrite[];
}

export async function runReconcile(options: RunOptions, stop: AbortSignal): Promise<RunEnd> {
  const { id, controller, key, clock, fence } = options;
  const following = follow(stop);
  const writes: OwnWrite[] = [];
  let cutShort: CutShort | undefined;
  const cancelDeadline = clock.after(options.deadlineMs, () => {
    if (stop.aborted) return;
    cutShort = "deadline";
    options.onOverdue();
    following.abort(new ReconcileAborted("deadline"));
  });
  const { signal } = following;
  const api = recordingApi(options.api, { signal, note: (write) => writes.push(write) });
  let next: Next;
  try {
    next = await options.reconcile(parseKey(key), { id, controller, signal, api, clock, fence });
  } catch (error) {
    next = failed(error);
  } finally {
    cancelDeadline();
    following.release();
    // A call that the reconcile did not await must not write later.
    following.abort(new ReconcileAborted("ended"));
  }
  if (cutShort === undefined && stop.aborted) cutShort = "stop";
  return { next, cutShort, writes };
}
