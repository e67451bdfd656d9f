// What a dashboard is made of, in the words of a reader; `grafana.ts` says it in Grafana's.

export interface Query {
  readonly expr: string;
  /** The name of a line or a column, as in {{pod}}. */
  readonly legend: string;
  /** Absent: every cluster has it. Else it shows nothing where there are none. */
  readonly needs?: "backups" | "certificates";
}

/** As Grafana calls them. */
export type Unit = "short" | "percentunit" | "bytes" | "s" | "ops" | "Bps" | "bool_yes_no" | "d";

export interface Panel {
  readonly title: string;
  /** What a good value is, and what a bad one means. */
  readonly description: string;
  /** Lines over time, one number, or a table of the newest values with a row for each combination of labels. */
  readonly show: "lines" | "number" | "table";
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** Of 24 columns. */
  readonly width: 3 | 4 | 6 | 8 | 12 | 24;
  /** Values from which on a number is yellow, and red. */
  readonly limits?: { readonly yellow: number; readonly red: number };
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  /** The values to choose from: those of a label of a metric. */
  readonly metric: string;
  readonly of: string;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}
