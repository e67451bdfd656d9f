// When a key is reconciled next, from how its actions and its report ended.
import { again, done, failed, type Next } from "../kube/controller/run-reconcile.ts";
import { delays } from "./delays.ts";
import type { Obstacle } from "./obstacle.ts";
import type { Reported } from "./report-status.ts";

interface Ended {
  /** What stopped the actions that the object needs. */
  readonly obstacle?: Obstacle | undefined;
  readonly requeueAfter?: number | undefined;
  /** Something was refused on the way that held up nothing. */
  readonly hasRefusals?: boolean;
}

export function nextReconcile({ obstacle, requeueAfter, hasRefusals = false }: Ended, reported: Reported): Next {
  if (obstacle?.t === "failed") return failed(obstacle.error);
  if (obstacle?.t === "notYet") return again(obstacle.againAfter);
  if (obstacle?.t === "refused") return again(delays.untilCorrected);
  const waits = requeueAfter === undefined ? [] : [requeueAfter];
  if (hasRefusals || reported === "refused") waits.push(delays.untilCorrected);
  // The watch brings what somebody else wrote: looking at once would only show the same again.
  if (reported === "outdated") return again(Math.min(...waits.filter((wait) => wait > 0), delays.cacheIsBehind));
  return waits.length === 0 ? done : again(Math.max(0, Math.min(...waits)));
}
