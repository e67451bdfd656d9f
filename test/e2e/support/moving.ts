// Waits for the end of what takes as long as it needs on a busy machine: it fails only when nothing has moved for a while, or
// when it never comes to rest.
import { waitFor } from "../../../lab/progress.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import { patience } from "./environment.ts";

/** Ends what changes all the time. */
const longestMs = 6 * patience;

export type Probed<T> = { readonly t: "over"; readonly result: T } | { readonly t: "going on"; readonly trace: string };

/** `probe`: the result, or a trace of how far it is. */
export async function whileItMoves<T>(
  what: string,
  probe: () => Promise<Probed<T>>,
  lastSeen: () => string,
): Promise<T> {
  const until = Date.now() + longestMs;
  let trace = "";
  while (Date.now() < until) {
    const probed = await waitFor(
      what,
      async () => {
        const now = await probe();
        return now.t === "going on" && now.trace === trace ? undefined : now;
      },
      { timeoutMs: patience, everyMs: 250, lastSeen },
    );
    if (probed.t === "over") return probed.result;
    ({ trace } = probed);
  }
  throw new Error(`${what}: it goes on and on; last seen: ${lastSeen()}`);
}

/** Changes with each step of pods, and not with a container that restarts again and again. */
export const traceOf = (pods: readonly Pod[]): string =>
  pods
    .map(({ metadata, spec, status }) => {
      const isReady = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
      return `${metadata?.uid} ${metadata?.deletionTimestamp} ${spec?.containers[0]?.image} ${isReady}`;
    })
    .toSorted()
    .join();
