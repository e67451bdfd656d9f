// Figures as people read them: ages as kubectl writes them, sizes in binary units.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** As in 45s, 12m, 3h10m, 26h, 9d, 2y. */
export function ageInWords(ms: number): string {
  const age = Math.max(0, ms);
  if (age < 2 * minute) return `${Math.floor(age / second)}s`;
  if (age < 10 * minute) return both(age, minute, "m", second, "s");
  if (age < 3 * hour) return `${Math.floor(age / minute)}m`;
  if (age < 8 * hour) return both(age, hour, "h", minute, "m");
  if (age < 2 * day) return `${Math.floor(age / hour)}h`;
  if (age < 8 * day) return both(age, day, "d", hour, "h");
  return age < 730 * day ? `${Math.floor(age / day)}d` : `${Math.floor(age / (365 * day))}y`;
}

function both(age: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((age % large) / small);
  return `${Math.floor(age / large)}${largeName}${rest === 0 ? "" : `${rest}${smallName}`}`;
}

/** Undefined for a text that is not a time. */
export function timeOf(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** As in 4 %, <1 %. */
export function shareInWords(part: number, whole: number): string {
  if (whole <= 0) return "";
  const share = (100 * part) / whole;
  return share > 0 && share < 1 ? "<1 %" : `${Math.round(share)} %`;
}

export const plural = (count: number, one: string, many: string = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
