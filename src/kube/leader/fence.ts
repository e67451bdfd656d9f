// The fence around a leader's writes: nothing is sent in the name of leadership once, by the local monotonic clock, a
// rival may have taken over. Timers alone are not enough: a process that was stopped for a minute and resumes runs
// the callbacks of its sockets before those of its timers, so each write checks the clock itself.
import { follow } from "../abort.ts";
import type { KubeApi, RequestOptions } from "../client/api.ts";

/** The work was done in the name of a leadership that is over. Nothing was sent, or it was aborted on the way. */
export class LeadershipLost extends Error {
  /** `namespace/name` of the lease. */
  readonly lease: string;

  constructor(lease: string, why: string) {
    super(`not the leader by lease ${lease}: ${why}`);
    this.name = "LeadershipLost";
    this.lease = lease;
  }
}

export interface Fence {
  /** By the clock: may this process still act as the leader at this very moment? */
  holds(): boolean;
  /** Throws `LeadershipLost` when it does not hold. To be called right before any act that only a leader may do. */
  check(): void;
  /** Aborts, with `LeadershipLost`, when leadership is lost; it does not abort when the process just shuts down. */
  readonly signal: AbortSignal;
}

/** For a process that has no rivals. */
export const openFence: Fence = { holds: () => true, check: () => {}, signal: new AbortController().signal };

/** The same API, reads unchanged; a write is refused when the fence does not hold, and aborted when it falls. */
export function fenced(api: KubeApi, fence: Fence): KubeApi {
  return {
    get: (kind, key, options) => api.get(kind, key, options),
    list: (kind, options) => api.list(kind, options),
    watch: (kind, options, onEvent) => api.watch(kind, options, onEvent),
    log: (pod, options) => api.log(pod, options),
    create: (kind, object, options) => guarded(fence, options, (linked) => api.create(kind, object, linked)),
    replace: (kind, object, options) => guarded(fence, options, (linked) => api.replace(kind, object, linked)),
    apply: (kind, object, options) =>
      guarded(fence, options, (linked) => api.apply(kind, object, { ...options, ...linked })),
    mergePatch: (kind, key, patch, options) =>
      guarded(fence, options, (linked) => api.mergePatch(kind, key, patch, linked)),
    delete: (kind, key, options) => guarded(fence, options, (linked) => api.delete(kind, key, linked)),
  };
}

async function guarded<O extends RequestOptions, R>(
  fence: Fence,
  options: O | undefined,
  send: (linked: (O | object) & RequestOptions) => Promise<R>,
): Promise<R> {
  fence.check();
  const link = follow(fence.signal, options?.signal);
  try {
    return await send({ ...options, signal: link.signal, beforeSend: () => fence.check() });
  } finally {
    link.release();
  }
}
