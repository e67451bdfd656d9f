// Waits for a condition instead of for a time, and says what was last seen when it does not come true.
import { AssertionError } from "node:assert";
import { setTimeout as delay } from "node:timers/promises";

/** Resolves as soon as `read` gives something other than undefined or false. */
export async function eventually<T>(
  what: string,
  read: () => T | undefined | false,
  lastSeen: () => unknown = read,
  within = 30_000,
): Promise<T> {
  const until = performance.now() + within;
  for (;;) {
    const found = read();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > until) {
      throw new AssertionError({
        message: `${what} did not happen in ${within} ms; last seen: ${JSON.stringify(lastSeen())}`,
      });
    }
    await delay(5);
  }
}
