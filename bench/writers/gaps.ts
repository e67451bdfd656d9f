// How long a client that never paused had to wait, from the moments at which its writes were acknowledged.

/** The longest time between two acknowledgements of which the later came after `from`; both in ascending milliseconds. */
export function longestGap(acknowledged: readonly number[], from: number): number {
  let longest: number | undefined;
  let before: number | undefined;
  for (const at of acknowledged) {
    if (before !== undefined && at > from) longest = Math.max(longest ?? 0, at - before);
    before = at;
  }
  // One who stopped being answered waits still: no number would say how long.
  if (longest === undefined) throw new RangeError("no two writes were acknowledged around that moment");
  return longest;
}
