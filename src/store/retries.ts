// How often a request is sent again, and after how long: the same for every store.

export const attempts = 5;

/** 200 ms doubled with each attempt, half of it by chance so that many do not come back together. About 3 s in all. */
export function delayAfter(attempt: number, chance: number = Math.random()): number {
  const full = 200 * 2 ** (attempt - 1);
  return full / 2 + (full / 2) * chance;
}
