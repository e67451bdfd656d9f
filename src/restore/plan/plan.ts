// What to do about an EtcdRestore, by its phase. Nothing here does anything, and the same world gives the same plan.
import { type RestoreWorld, isOver } from "../observe/world.ts";
import { begin } from "./begin.ts";
import { checking } from "./checking.ts";
import { fail, over, type RestoreAction, type RestoreDecision } from "./actions.ts";
import { isEdited, strayed, isUntouched } from "./gates.ts";
import { restoring } from "./restoring.ts";
import { saveEarly, saving } from "./saving.ts";

interface RestorePlan {
  readonly decision: RestoreDecision;
  /** Hold up nothing. */
  readonly upkeep: readonly RestoreAction[];
}

/** `now` in milliseconds since 1970. */
export function planRestore(world: RestoreWorld, now: number): RestorePlan {
  const decision = decide(world, now);
  return {
    decision,
    upkeep: [
      ...(decision.t === "stay" ? saveEarly(world) : []),
      ...world.spent.map((pod) => ({ do: "deleteWorker", ...pod, because: "it is of no use any more" }) as const),
      ...(world.requested === undefined ? [] : [{ do: "takeBackRequest", ...world.requested } as const]),
    ],
  };
}

const editRefused = "The spec was changed after the restore had begun, which changes nothing any more";

function decide(world: RestoreWorld, now: number): RestoreDecision {
  const { restore } = world;
  const edited = isEdited(restore);
  if (isOver(restore)) return edited ? over(`${editRefused}: apply another EtcdRestore.`) : over();
  const { phase } = restore.status;
  if (phase === undefined) return begin(world, now);
  if (edited && isUntouched(world))
    return fail("The spec was changed after the restore had begun. Nothing was touched: apply another EtcdRestore.");
  const decision = strayed(world) ?? inPhase[phase](world, now);
  if (!edited || decision.t !== "stay") return decision;
  return {
    ...decision,
    because: `${decision.because} ${editRefused}: apply another EtcdRestore when this one is over.`,
  };
}

type InPhase = (world: RestoreWorld, now: number) => RestoreDecision;

const inPhase: Readonly<Record<"Checking" | "Saving" | "Restoring" | "Succeeded" | "Failed", InPhase>> = {
  Checking: checking,
  Saving: saving,
  Restoring: restoring,
  Succeeded: () => over(),
  Failed: () => over(),
};
