// A table that fits into a width: where it is too wide, the columns that matter least are left out, and named.
import { printableLine } from "../../kube/objects/printable.ts";
import type { Hue, Paint } from "./colour.ts";

export interface Column {
  readonly title: string;
  /** The larger, the sooner it is left out. 0: never. */
  readonly droppable: number;
  readonly align?: "right";
}

export type Cell = string | { readonly text: string; readonly hue: Hue };

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
}

const gap = 2;

export function tableLines(table: Table, width: number, paint: Paint): string[] {
  const shown = columnsThatFit(table, width);
  const widths = widthsOf(table);
  const line = (cells: readonly Cell[], hue: Hue | undefined): string =>
    shown
      .map((at, place) => {
        const cell = cells[at] ?? "";
        const text = textOf(cell);
        const room = " ".repeat((widths[at] ?? 0) - text.length);
        const own = hue ?? (typeof cell === "string" ? undefined : cell.hue);
        const painted = own === undefined ? text : paint(own, text);
        if (table.columns[at]?.align === "right") return room + painted;
        return place === shown.length - 1 ? painted : painted + room;
      })
      .join(" ".repeat(gap));
  const heading = line(
    table.columns.map(({ title }) => title),
    "strong",
  );
  return [heading, ...table.rows.map((cells) => line(cells, undefined))];
}

export function leftOut(table: Table, width: number): string[] {
  const shown = new Set(columnsThatFit(table, width));
  return table.columns.flatMap(({ title }, at) => (shown.has(at) ? [] : [title]));
}

function columnsThatFit(table: Table, width: number): number[] {
  const widths = widthsOf(table);
  let shown = table.columns.map((_, at) => at);
  const total = (): number => shown.reduce((sum, at) => sum + (widths[at] ?? 0), 0) + gap * (shown.length - 1);
  while (total() > width) {
    const next = shown.reduce((worst, at) => (droppable(table, at) > droppable(table, worst) ? at : worst));
    if (droppable(table, next) === 0) return shown;
    shown = shown.filter((at) => at !== next);
  }
  return shown;
}

const droppable = ({ columns }: Table, at: number): number => columns[at]?.droppable ?? 0;

function widthsOf({ columns, rows }: Table): number[] {
  return columns.map(({ title }, at) => Math.max(title.length, ...rows.map((cells) => textOf(cells[at] ?? "").length)));
}

/** An end of line in a cell would look like another row. */
const textOf = (cell: Cell): string => printableLine(typeof cell === "string" ? cell : cell.text);
