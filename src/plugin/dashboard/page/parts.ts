// The small parts that the pages are made of: a state that is seen without colours, too; a figure with its name.
import type { Hue } from "../../screen/colour.ts";
import { type Child, h, svg } from "./dom.ts";

const shapes: Readonly<Record<Hue, readonly [outline: string, sign: string]>> = {
  good: ["M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1z", "M4.9 8.3 7.1 10.5 11.2 5.8"],
  warning: ["M8 1.2 15.3 14.4H.7z", "M8 6v3.6M8 11.9v.3"],
  bad: ["M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z", "M5.6 5.6l4.8 4.8M10.4 5.6 5.6 10.4"],
  strong: ["M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1z", ""],
  dim: ["M8 4.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7z", ""],
};

/** A round tick, a triangle, an octagon: three shapes for three states. */
export function mark(hue: Hue): SVGElement {
  const [outline, sign] = shapes[hue];
  return svg(
    "svg",
    { class: `mark ${hue}`, viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", { class: "mark-outline", d: outline }),
    svg("path", { class: "mark-sign", d: sign }),
  );
}

export const pill = (hue: Hue, text: string): HTMLElement =>
  h("span", { class: `pill ${hue}` }, mark(hue), h("span", {}, text));

export function section(id: string, title: string, ...children: readonly Child[]): HTMLElement {
  return h(
    "section",
    { class: `card ${id}`, "aria-labelledby": `${id}-title`, "data-key": id },
    h("h2", { id: `${id}-title` }, title),
    ...children,
  );
}

export const fact = (name: string, ...value: readonly Child[]): HTMLElement =>
  h("div", { class: "fact" }, h("dt", {}, name), h("dd", {}, ...value));

export const list = (className: string, ...items: readonly HTMLElement[]): HTMLElement =>
  h("ul", { class: className, role: "list" }, ...items);
