// Chapter 1: a Kubernetes, the lab's or one's own, in which nothing of somebody else has the names that the demo uses.
import { UsageError } from "../../lab/config.ts";
import { findLeftovers, type Leftovers, refusal } from "../leftovers.ts";
import { findPlace, type Place } from "../place.ts";
import { chapter } from "../story.ts";
import { findTarget, type Target } from "../target.ts";
import { type } from "../typed.ts";

export interface Ground {
  readonly target: Target;
  readonly place: Place;
  /** What an earlier demo left. */
  readonly leftovers: Leftovers;
}

export async function findKubernetes(args: readonly string[], signal: AbortSignal): Promise<Ground> {
  chapter("1. A Kubernetes");
  const target = await findTarget(args, signal);
  await type("kubectl get nodes", { signal });
  const place = await findPlace(signal);
  // Before anything is installed: the operator would manage what is there.
  const leftovers = await findLeftovers(place, signal);
  if (leftovers.t === "foreign") throw new UsageError(refusal(leftovers.found, place.namespace));
  return { target, place, leftovers };
}
