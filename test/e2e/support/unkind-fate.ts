// Loaded into an operator before its own program (`node --import`), for one that practises: where it tosses a coin, the
// coin falls on the one side each time, and nobody is spared for the first minute. So a test depends on no luck and takes
// half as long; the time between two kills is what it always is.
import { systemClock } from "../../../src/kube/clock.ts";

const { random } = Math;
Math.random = () => random() / 2;

const graceAtStart = 60_000;
const after = systemClock.after.bind(systemClock);
systemClock.after = (ms, run) => after(ms === graceAtStart && isForPractice() ? 0 : ms, run);

/** Passes, too, have a minute: theirs they keep. */
function isForPractice(): boolean {
  return new Error("who asks").stack?.includes("/src/cluster/chaos.ts") ?? false;
}
