// What an alert is tried on, and when it has to fire and to be silent.
import type { Series } from "./series.ts";

export interface Case {
  readonly alert: string;
  /** A sentence that goes on after the name of the alert. */
  readonly what: string;
  readonly series: Series;
  /** Minutes at which it is firing. */
  readonly fires: readonly number[];
  /** Minutes at which it is not. */
  readonly silent: readonly number[];
  /** The labels of the firing alert, beside its name and severity. */
  readonly labels?: Readonly<Record<string, string>>;
}
