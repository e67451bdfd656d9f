// Drawings of figures: votes and the majority that is needed, a share of a limit, and how a figure moved.
import type { Hue } from "../../screen/colour.ts";
import type { QuorumView } from "../../view/cluster-view.ts";
import { h, svg } from "./dom.ts";

/** A box for each voter, filled if it is healthy, and a line behind as many as are needed. */
export function votes(
  { voters, healthy, needed }: Pick<QuorumView, "voters" | "healthy" | "needed">,
  hue: Hue,
): HTMLElement {
  const boxes = Array.from({ length: voters }, (_, at) =>
    h("span", { class: `vote${at < healthy ? ` full ${hue}` : ""}${at + 1 === needed ? " last-needed" : ""}` }),
  );
  return h(
    "div",
    { class: "votes", role: "img", "aria-label": `${healthy} of ${voters} votes, ${needed} needed` },
    ...boxes,
  );
}

/** A share of a limit, from 0 to 1. */
export function bar(share: number, hue: Hue, label: string): HTMLElement {
  const width = Math.max(0.5, Math.min(100, 100 * share));
  return h(
    "div",
    { class: "bar", role: "img", "aria-label": label },
    svg(
      "svg",
      { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: `bar-fill ${hue}`, width: width.toFixed(2), height: 4 }),
    ),
  );
}

const [width, height, room] = [120, 28, 3] as const;

interface Curve {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  /** What the top of the drawing stands for at least, so that small moves look small. */
  readonly atLeast: number;
  readonly label: string;
}

/** How a figure moved. Where it was not known, the line is broken. */
export function sparkline({ times, values, atLeast, label }: Curve): SVGElement {
  const known = values.flatMap((value) => value ?? []);
  const top = Math.max(atLeast, ...known);
  const [begin = 0, end = 0] = [times[0], times.at(-1)];
  const x = (time: number): number => room + ((time - begin) / Math.max(1, end - begin)) * (width - 2 * room);
  const y = (value: number): number => height - room - (value / Math.max(1, top)) * (height - 2 * room);
  let isDrawing = false;
  const line = values
    .map((value, at) => {
      if (value === null) {
        isDrawing = false;
        return "";
      }
      const command = isDrawing ? "L" : "M";
      isDrawing = true;
      return `${command}${x(times[at] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join("");
  const last = values.at(-1);
  const dot = last === null || last === undefined ? undefined : { cx: x(end).toFixed(1), cy: y(last).toFixed(1) };
  return svg(
    "svg",
    { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    svg("path", { class: "spark-base", d: `M${room} ${height - room}H${width - room}` }),
    svg("path", { class: "spark-line", d: line }),
    dot !== undefined && svg("circle", { class: "spark-dot", r: 2.2, ...dot }),
  );
}
