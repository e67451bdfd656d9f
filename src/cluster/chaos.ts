// Chaos testing, by `-chaos-level`: the operator kills pods of members at random, without notice, and then has to heal
// them. For clusters that one can lose.
import type { KubeApi } from "../kube/client/api.ts";
import { type Clock, pause } from "../kube/clock.ts";
import { isNotFound } from "../kube/client/errors.ts";
import { Pod } from "../kube/objects/kinds.ts";
import type { Logger } from "../kube/process/log.ts";
import { keyOf, keyText } from "../kube/objects/objects.ts";

/** 1: one member now and then, which a cluster of three survives. 2: up to five at once, which it may not. */
export type ChaosLevel = 1 | 2;

/** In milliseconds. The figures of etcd-operator 0.9. */
const levels = {
  1: { graceAtStart: 60_000, atMost: 1 },
  2: { graceAtStart: 0, atMost: 5 },
} as const;
const everyMs = 30_000;
const chance = 0.5;

interface Chaos {
  readonly level: ChaosLevel;
  readonly pods: () => readonly Pod[];
  readonly clock: Clock;
  /** Gives numbers from 0 up to 1. */
  readonly random?: () => number;
  readonly log: Logger;
}

export async function runChaos(chaos: Chaos, api: KubeApi, signal: AbortSignal): Promise<void> {
  const { level, clock, random = Math.random, log } = chaos;
  const { graceAtStart, atMost } = levels[level];
  log.warn("-chaos-level: members are killed at random", { level });
  await pause(clock, graceAtStart, signal);
  while (!signal.aborted) {
    await pause(clock, everyMs, signal);
    if (signal.aborted || random() >= chance) continue;
    const count = 1 + Math.floor(random() * atMost);
    for (const victim of drawn(chaos.pods(), count, random)) await kill(victim, chaos, api, signal);
  }
}

/** Some of them, each at most once. */
function drawn<T>(from: readonly T[], count: number, random: () => number): T[] {
  const left = [...from];
  return Array.from({ length: Math.min(count, left.length) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
}

async function kill(pod: Pod, { log }: Chaos, api: KubeApi, signal: AbortSignal): Promise<void> {
  const key = keyOf(pod);
  const { uid } = pod.metadata ?? {};
  try {
    await api.delete(Pod, key, { gracePeriodSeconds: 0, ...(uid !== undefined && { uid }), signal });
    log.warn("killed by chaos", { pod: keyText(key) });
  } catch (error) {
    // A pod that is already gone is fine.
    if (!signal.aborted && !isNotFound(error)) log.warn("not killed", { pod: keyText(key), because: String(error) });
  }
}
