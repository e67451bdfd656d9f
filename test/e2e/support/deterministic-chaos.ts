// Preloaded into an operator with -chaos-level (`node --import`): every random decision is to kill, and the grace minute at
// the start is skipped, so that the test depends on no chance and takes half as long. The interval between kills is kept.
import { systemClock } from "../../../src/kube/clock.ts";

const { random } = Math;
Math.random = () => random() / 2;

const graceAtStart = 60_000;
const after = systemClock.after.bind(systemClock);
systemClock.after = (ms, run) => after(ms === graceAtStart && isForChaos() ? 0 : ms, run);

/** Reconciles use a delay of a minute, too: theirs is kept. */
function isForChaos(): boolean {
  return new Error("caller").stack?.includes("/src/cluster/chaos.ts") ?? false;
}
