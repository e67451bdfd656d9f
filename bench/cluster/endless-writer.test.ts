import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { waitFor } from "../../lab/progress.ts";
import { TransportError } from "../../src/transport/errors.ts";
import { EndlessWriter } from "./endless-writer.ts";

/** One that acknowledges, or breaks, and counts how often it was asked. */
class Stub {
  asked = 0;
  broken = false;

  async put(): Promise<{ revision: number }> {
    this.asked += 1;
    await nextTurn();
    if (this.broken) throw new TransportError("broken", "it was killed");
    return { revision: 1 };
  }
}

const untilSeen = (what: string, seen: () => boolean): Promise<true> =>
  waitFor(what, async () => (seen() ? true : undefined), { timeoutMs: 10_000, everyMs: 1 });

test("a member that breaks is left for the next one at once and not asked again while that one serves", async () => {
  const [first, second] = [new Stub(), new Stub()];
  await using writer = new EndlessWriter([first, second]);
  await untilSeen("writes through the first", () => writer.acknowledged.length > 3);
  assert.equal(second.asked, 0);
  first.broken = true;
  await untilSeen("writes through the second", () => second.asked > 3);
  const askedFirst = first.asked;
  const before = writer.acknowledged.length;
  await untilSeen("more writes", () => writer.acknowledged.length > before + 3);
  assert.equal(first.asked, askedFirst);
});

test("only what was acknowledged is noted, in the order of time", async () => {
  const member = new Stub();
  await using writer = new EndlessWriter([member]);
  await untilSeen("writes", () => writer.acknowledged.length > 3);
  member.broken = true;
  const asked = member.asked;
  await untilSeen("vain attempts", () => member.asked > asked + 3);
  const noted = [...writer.acknowledged];
  await writer.stop();
  assert.deepEqual(writer.acknowledged, noted);
  assert.deepEqual(
    noted,
    noted.toSorted((a, b) => a - b),
  );
});
