// What is wrong with a cluster, or could be better, and the command that fixes it or says more.
import type { Observed } from "../observe/observe.ts";
import type { ClusterView } from "../view/cluster-view.ts";

/** `serious`: it does not serve as asked, or is about to. `warning`: a person should act. `note`: good to know. */
export type Severity = "serious" | "warning" | "note";

export interface Finding {
  readonly severity: Severity;
  readonly what: string;
  /** To be typed as it is, or with what stands in capitals replaced. */
  readonly command: string;
}

/** Checks one thing, and finds nothing where that is as it should be. */
export type Examination = (view: ClusterView, observed: Observed) => readonly Finding[];

export const serious = (what: string, command: string): Finding => ({ severity: "serious", what, command });
export const warning = (what: string, command: string): Finding => ({ severity: "warning", what, command });
export const note = (what: string, command: string): Finding => ({ severity: "note", what, command });
