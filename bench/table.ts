// The figures as a person reads them: a table for the screen, and the same as markdown to paste.
import type { Aim, Figure } from "./measure.ts";

const head = ["FIGURE", "UNIT", "N", "P50", "P99", "FLOOR", "FLOOR P50", "FLOOR P99", "RATIO", "AIM"] as const;
const textColumns: ReadonlySet<string> = new Set(["FIGURE", "UNIT", "FLOOR"]);

function row({ what, unit, ours, floor, ratio, aim }: Figure): string[] {
  const n = ours.n === floor.n ? String(ours.n) : `${ours.n}, ${floor.n}`;
  const ratioText = ratio === undefined ? "–" : `${ratio.toFixed(2)}×`;
  const numbers = [short(ours.p50), short(ours.p99), floor.what, short(floor.p50), short(floor.p99)];
  return [what, unit, n, ...numbers, ratioText, aim === undefined ? "" : aimText(aim)];
}

const aimText = ({ of, atMost, met }: Aim): string =>
  `≤ ${short(atMost)}${of === "ratio" ? "×" : ""} ${met ? "✓" : "✗"}`;

/** Three digits that count: more would be noise. */
export function short(value: number): string {
  if (value === 0 || Math.abs(value) >= 100) return value.toFixed(0);
  return String(Number(value.toPrecision(3)));
}

export function screenTable(figures: readonly Figure[]): string {
  const rows = [[...head], ...figures.map(row)];
  const widths = head.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  return [...rows.map(line), ...notes(figures)].join("\n");
}

export function markdownTable(figures: readonly Figure[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const names = head.map((name) => name.charAt(0) + name.slice(1).toLowerCase());
  const rule = head.map((_, column) => (isText(column) ? "---" : "---:"));
  return [names, rule, ...figures.map(row)].map(line).join("\n");
}

const isText = (column: number): boolean => textColumns.has(head[column] ?? "");

function notes(figures: readonly Figure[]): string[] {
  return figures.flatMap(({ what, note }) => (note === undefined ? [] : [`  ${what}: ${note}`]));
}
