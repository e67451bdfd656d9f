// Upkeep that was refused a moment ago. While members are healed a cluster is reconciled many times a second; what a quota
// forbids is not asked for as often, and is reported all the while.
import { isDeepStrictEqual } from "node:util";
import type { ClusterAction } from "../plan/actions.ts";
import type { ActionObstacle } from "./outcome.ts";
import { delays } from "../../controllers/delays.ts";

interface Refusal {
  readonly actions: readonly ClusterAction[];
  readonly obstacles: readonly ActionObstacle[];
  readonly until: number;
}

export class RefusedUpkeep {
  /** By namespace and name of the cluster: one entry at most for each that is refused something. */
  readonly #refusals = new Map<string, Refusal>();

  /** What became of these very actions, when that was a moment ago. */
  recent(cluster: string, actions: readonly ClusterAction[], now: number): readonly ActionObstacle[] | undefined {
    const last = this.#refusals.get(cluster);
    if (last === undefined || last.until <= now || !isDeepStrictEqual(last.actions, actions)) return undefined;
    return last.obstacles;
  }

  note(cluster: string, actions: readonly ClusterAction[], obstacles: readonly ActionObstacle[], now: number): void {
    if (obstacles.length === 0) this.#refusals.delete(cluster);
    else this.#refusals.set(cluster, { actions, obstacles, until: now + delays.untilCorrected });
  }

  forget(cluster: string): void {
    this.#refusals.delete(cluster);
  }
}
