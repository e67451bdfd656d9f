// A round as one page: what clients could write, who was there, the fault, the change, what the operator did and what Kubernetes
// told, on one axis of time. It needs nothing but itself.
import type { Verdict } from "../../test/robustness/judge.ts";
import type { OperatorAction, Sample } from "../judging/samples.ts";
import { escaped, number } from "../page/svg.ts";

export interface Noted {
  readonly at: number;
  readonly what: string;
}

export interface Timeline {
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly marks: readonly Noted[];
  readonly fault?: { readonly from: number; readonly to: number; readonly what: string };
  /** When writes were acknowledged. */
  readonly acknowledged: readonly number[];
  readonly samples: readonly Sample[];
  readonly actions: readonly OperatorAction[];
  readonly events: readonly Noted[];
  readonly checks: Readonly<Record<string, Verdict>>;
}

const width = 1200;
const left = 170;
const right = 20;
const lane = 24;
const traffic = 70;

interface Span {
  readonly from: number;
  readonly to: number;
  readonly what: string;
}

/** Neighbouring looks with the same answer are one span, which lasts until the next look. */
export function spansOf(
  samples: readonly Sample[],
  wordOf: (sample: Sample) => string | undefined,
  end: number,
): Span[] {
  const spans: { from: number; to: number; what: string | undefined }[] = [];
  for (const [at, sample] of samples.entries()) {
    const what = wordOf(sample);
    const to = samples[at + 1]?.at ?? Math.min(end, sample.at + 500);
    const last = spans.at(-1);
    if (last !== undefined && last.what === what) last.to = to;
    else spans.push({ from: sample.at, to, what });
  }
  return spans.flatMap(({ what, ...span }) => (what === undefined ? [] : [{ ...span, what }]));
}

/** How many fall into each slice of time. */
export function rateIn(times: readonly number[], from: number, to: number, slices: number): number[] {
  const counts = Array.from({ length: slices }, () => 0);
  for (const at of times) {
    const slice = Math.floor(((at - from) / (to - from)) * slices);
    if (slice >= 0 && slice < slices) counts[slice] = (counts[slice] ?? 0) + 1;
  }
  return counts;
}

export function timelinePage(timeline: Timeline): string {
  const { title, from, checks } = timeline;
  const rows = [
    ...timeline.marks,
    ...timeline.events,
    ...timeline.actions.map((one) => ({ at: one.at, what: wordOf(one) })),
  ]
    .filter(({ at }) => at >= from - 1000)
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, what }) => `<tr><td>${((at - from) / 1000).toFixed(2)} s</td><td>${escaped(what)}</td></tr>`);
  const verdicts = Object.entries(checks).map(
    ([name, { status, why }]) =>
      `<tr class="${status}"><td>${escaped(name)}</td><td>${status}</td><td>${escaped(why ?? "")}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<style>
  body { font: 14px system-ui, sans-serif; margin: 24px; color: #1c2733; background: #fff; }
  svg { width: 100%; height: auto; } td { padding: 2px 12px 2px 0; vertical-align: top; }
  td:first-child { white-space: nowrap; } table { border-collapse: collapse; margin-bottom: 24px; }
  .failed td { color: #b3261e; font-weight: 600; } .skipped td { color: #7a6a00; }
  @media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #161b22; } svg { background: #fff; } }
</style></head><body>
<h1>${escaped(title)}</h1>
<p>Began ${new Date(from).toISOString()}. Times below are seconds after that.</p>
${drawing(timeline)}
<h2>Checks</h2><table>${verdicts.join("")}</table>
<h2>What happened</h2><table>${rows.join("")}</table>
</body></html>
`;
}

const wordOf = ({ do: what, member, because }: OperatorAction): string =>
  `operator: ${[what, member].filter((part) => part !== "").join(" ")}${because === "" || because === '""' ? "" : ` – ${because}`}`;

function drawing(timeline: Timeline): string {
  const { from, to, samples, actions, events, marks, fault } = timeline;
  const x = (at: number): number =>
    left + (Math.max(0, Math.min(at, to) - from) / (to - from || 1)) * (width - left - right);
  const names = [...new Set(samples.flatMap(({ members }) => members.map(({ name }) => name)))].toSorted();
  const parts: string[] = [];
  let y = 30;
  const label = (text: string, height = lane): void => {
    parts.push(`<text x="0" y="${number(y + height / 2 + 4)}" fill="#1c2733">${escaped(text)}</text>`);
  };
  const bar = ({ from, to, what }: Span, colour: string): void => {
    const wide = Math.max(1, x(to) - x(from));
    parts.push(
      `<rect x="${number(x(from))}" y="${y + 4}" width="${number(wide)}" height="${lane - 8}" fill="${colour}"><title>${escaped(what)}</title></rect>`,
    );
  };
  const dot = ({ at, what }: Noted, colour: string): void => {
    parts.push(
      `<circle cx="${number(x(at))}" cy="${y + lane / 2}" r="4" fill="${colour}" fill-opacity="0.8"><title>${escaped(`${((at - from) / 1000).toFixed(2)} s: ${what}`)}</title></circle>`,
    );
  };

  label("acknowledged writes", traffic);
  const slices = 300;
  const rate = rateIn(timeline.acknowledged, from, to, slices);
  const most = Math.max(1, ...rate);
  const points = rate.map((count, slice) => {
    const at = from + ((slice + 0.5) / slices) * (to - from);
    return `${number(x(at))},${number(y + traffic - 6 - (count / most) * (traffic - 12))}`;
  });
  parts.push(`<polyline points="${points.join(" ")}" fill="none" stroke="#2f6f4f" stroke-width="1.5"/>`);
  y += traffic;
  label("fault");
  if (fault !== undefined) bar({ ...fault, to: Math.max(fault.to, fault.from + 1) }, "#b3261e");
  y += lane;
  label("not healthy");
  for (const span of spansOf(samples, ({ healthy, why }) => (healthy ? undefined : why), to)) bar(span, "#d9a400");
  y += lane;
  for (const name of names) {
    label(name);
    const answering = spansOf(
      samples,
      ({ members }) => {
        const member = members.find((one) => one.name === name);
        if (member === undefined) return undefined;
        return member.answer === undefined ? "silent" : "answers";
      },
      to,
    );
    for (const span of answering) bar(span, span.what === "answers" ? "#4a7bd0" : "#d0d7e2");
    y += lane;
  }
  for (const [text, dots, colour] of [
    ["operator did", actions.map((one) => ({ at: one.at, what: wordOf(one) })), "#7b3fb0"],
    ["events", events, "#52606f"],
    ["round", marks, "#1c2733"],
  ] as const) {
    label(text);
    for (const one of dots) if (one.at >= from && one.at <= to) dot(one, colour);
    y += lane;
  }
  const height = y + 24;
  const seconds = Math.ceil((to - from) / 1000);
  const every = [1, 2, 5, 10, 20, 60].find((one) => seconds / one <= 25) ?? 120;
  for (let second = 0; second <= seconds; second += every) {
    const at = number(x(from + second * 1000));
    parts.unshift(`<line x1="${at}" y1="24" x2="${at}" y2="${y}" stroke="#e3e8ef"/>`);
    parts.push(`<text x="${at}" y="${y + 16}" text-anchor="middle" fill="#52606f" font-size="12">${second} s</text>`);
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">${parts.join("\n")}</svg>`;
}
