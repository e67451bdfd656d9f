// The parts of a drawing: one line a group with every sample as a point, so that a reader sees how many there are and how far
// apart. The page is drawn for light and dark.

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Short, and the same on every machine. */
export const number = (value: number): string => String(Math.round(value * 10) / 10);

export interface Group {
  readonly name: string;
  /** Milliseconds. */
  readonly samples: readonly number[];
}

const width = 760;
const left = 150;
const right = 70;
const row = 22;
const top = 52;
const ticksMs = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000];

/** Where a time is on an axis on which each step multiplies it. */
export function placeOf(ms: number, least: number, most: number): number {
  const share = (Math.log(Math.max(ms, least)) - Math.log(least)) / (Math.log(most) - Math.log(least));
  return left + Math.min(1, share) * (width - left - right);
}

const timeText = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`);

export function distributions(title: string, groups: readonly Group[]): string {
  const drawn = groups.filter(({ samples }) => samples.length > 0);
  const all = drawn.flatMap(({ samples }) => samples);
  const least = ticksMs.findLast((tick) => tick <= Math.min(...all)) ?? 10;
  const most = ticksMs.find((tick) => tick >= Math.max(...all) && tick > least) ?? 300_000;
  const height = top + drawn.length * row + 16;
  const axis = ticksMs
    .filter((tick) => tick >= least && tick <= most)
    .map((tick) => {
      const x = number(placeOf(tick, least, most));
      return `<line class="grid" x1="${x}" y1="${top - 8}" x2="${x}" y2="${height - 12}"/><text class="small" x="${x}" y="${top - 14}" text-anchor="middle">${timeText(tick)}</text>`;
    });
  const rows = drawn.map(({ name, samples }, at) => {
    const y = top + at * row + row / 2;
    const sorted = samples.toSorted((a, b) => a - b);
    const middle = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
    const points = sorted.map(
      (ms) => `<circle class="point" cx="${number(placeOf(ms, least, most))}" cy="${number(y)}" r="4"/>`,
    );
    const x = number(placeOf(middle, least, most));
    return `<text class="text" x="${left - 12}" y="${number(y + 4)}" text-anchor="end">${escaped(name)}</text>${points.join("")}<line class="middle" x1="${x}" y1="${number(y - 8)}" x2="${x}" y2="${number(y + 8)}"/><text class="small" x="${width - right + 12}" y="${number(y + 4)}">n ${samples.length}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title" font-family="system-ui, sans-serif" font-size="13">
<title id="title">${escaped(title)}</title>
<style>
  .page { fill: #ffffff; } .text { fill: #1c2733; } .small { fill: #52606f; font-size: 12px; } .grid { stroke: #e3e8ef; }
  .point { fill: #4a7bd0; fill-opacity: 0.45; } .middle { stroke: #1c2733; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #161b22; } .text { fill: #e6edf3; } .small { fill: #a3b1c2; } .grid { stroke: #2a3340; }
    .point { fill: #6c9cf0; } .middle { stroke: #e6edf3; }
  }
</style>
<rect class="page" width="${width}" height="${height}" rx="10"/>
<text class="text" x="16" y="22" font-weight="600">${escaped(title)}</text>
${axis.join("\n")}
${rows.join("\n")}
</svg>
`;
}
