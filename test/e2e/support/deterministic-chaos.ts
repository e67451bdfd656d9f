// Preloaded into an operator with -chaos-level (`node --import`): its first decision is to kill, and the grace minute at the start
// is skipped, so that the test depends on no chance and takes half as long. The interval before the kill is kept, and the next
// one comes when a busy machine has had the time to heal: two of three at once would be the end of the cluster.
import { systemClock } from "../../../src/kube/clock.ts";

const graceAtStart = 60_000;
const betweenKills = 600_000;

const { random } = Math;
let lastKill = Number.NEGATIVE_INFINITY;
/** The next of the numbers that a kill draws: how many, and whom. */
let toDraw = 0;
Math.random = () => {
  if (!isForChaos()) return random();
  if (toDraw > 0) {
    toDraw -= 1;
    return random();
  }
  if (systemClock.now() < lastKill + betweenKills) return 1 - Number.EPSILON;
  lastKill = systemClock.now();
  toDraw = 2;
  return 0;
};

const after = systemClock.after.bind(systemClock);
systemClock.after = (ms, run) => after(ms === graceAtStart && isForChaos() ? 0 : ms, run);

/** Others draw numbers, too, and reconciles use a delay of a minute: theirs are kept. */
function isForChaos(): boolean {
  return new Error("caller").stack?.includes("/src/cluster/chaos.ts") ?? false;
}
