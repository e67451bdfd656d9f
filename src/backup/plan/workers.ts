// Workers that are no longer of use: those of another run have to end before one is made, and pods that have ended are
// deleted, but for the last that failed.
import type { BackupWorld } from "../observe/world.ts";
import type { Worker } from "../../controllers/worker.ts";
import type { BackupAction, BackupDecision } from "./actions.ts";
import { isLasting } from "./trouble.ts";

/** A kubelet that cannot be reached never reports that a pod has ended: after so long nobody waits for it. */
export const lostAfterMs = 60_000;

export const isLost = ({ state, goneBy }: Worker, now: number): boolean =>
  state.t !== "ended" && goneBy !== undefined && now >= goneBy + lostAfterMs;

/** Whatever still runs is ended first. Undefined: nothing does. */
export function waitForOthers(
  { workers }: BackupWorld,
  now: number,
): Pick<BackupDecision, "because" | "actions" | "requeueAfter"> | undefined {
  const alive = workers.filter((worker) => worker.state.t !== "ended" && !isLost(worker, now));
  if (alive.length === 0) return undefined;
  const goneBy = alive.flatMap((worker) => worker.goneBy ?? []);
  return {
    because: `The worker ${alive.map(({ name }) => name).join(", ")} must end first.`,
    actions: alive.filter((worker) => worker.goneBy === undefined).map((one) => remove(one, "another run begins")),
    ...(goneBy.length > 0 && { requeueAfter: Math.min(...goneBy) + lostAfterMs - now }),
  };
}

export const remove = ({ name, uid }: Worker, because: string): BackupAction => ({
  do: "deleteWorker",
  name,
  uid,
  because,
});

/** The log of the last that failed is there until a run has succeeded. */
export function leftovers({ workers }: BackupWorld, { trouble }: BackupDecision): BackupAction[] {
  const ended = workers.filter(({ state, goneBy }) => state.t === "ended" && goneBy === undefined);
  const hasFailed = trouble !== undefined && (isLasting(trouble.reason) || trouble.reason === "DeletionFailed");
  const kept = hasFailed ? ended.findLast(hasWords) : undefined;
  return ended.filter((worker) => worker !== kept).map((worker) => remove(worker, "it has ended"));
}

const hasWords = ({ state }: Worker): boolean => state.t === "ended" && !state.result.ok && state.left === "nothing";
