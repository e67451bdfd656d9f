// Disruptions that safety.ts has not judged: for tests of how they are carried out and reported.
import type { ActionOf, ClusterAction } from "../plan/actions.ts";
import type { Judged } from "../plan/safety.ts";

export const judged = <D extends Extract<ClusterAction, Judged>["do"]>(
  action: { readonly do: D } & Omit<ActionOf<D>, keyof Judged | "do">,
): ActionOf<D> => action as ActionOf<D>;
