import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { waitFor } from "../../lab/progress.ts";
import { TransportError } from "../../src/transport/errors.ts";
import { EndlessWriter, RetryingWriter } from "./writers.ts";

/** One that acknowledges, or refuses, and counts how often it was asked. */
class Stub {
  asked = 0;
  refuses: string | undefined;
  readonly #answersAfter: () => Promise<void>;

  constructor(refuses?: string, answersAfter: () => Promise<void> = () => nextTurn()) {
    this.refuses = refuses;
    this.#answersAfter = answersAfter;
  }

  async put(): Promise<{ revision: number }> {
    this.asked += 1;
    await this.#answersAfter();
    if (this.refuses !== undefined) throw new TransportError("unreachable", this.refuses);
    return { revision: 1 };
  }
}

const untilSeen = (what: string, seen: () => boolean): Promise<true> =>
  waitFor(what, async () => (seen() ? true : undefined), { timeoutMs: 10_000, everyMs: 1 });

describe("a client without a pause", () => {
  test("a member that breaks is left for the next one at once and not asked again while that one serves", async () => {
    const [first, second] = [new Stub(), new Stub()];
    await using writer = new EndlessWriter([first, second]);
    await untilSeen("writes through the first", () => writer.acknowledged.length > 3);
    assert.equal(second.asked, 0);
    first.refuses = "it was killed";
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
    member.refuses = "it was killed";
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
});

describe("a client that tries once more", () => {
  test("every member is written through in turn, so that none is down without being noticed", async () => {
    const members = [new Stub(), new Stub(), new Stub()];
    await using writer = new RetryingWriter(members);
    await untilSeen("writes through all", () => members.every(({ asked }) => asked > 1));
    await writer.stop();
    assert.deepEqual([writer.failed, writer.retried], [[], 0]);
  });

  test("a write that one member refuses fails for nobody: the next one takes it", async () => {
    const members = [new Stub(), new Stub("it is restarted"), new Stub()];
    await using writer = new RetryingWriter(members);
    await untilSeen("some second tries", () => writer.retried > 2);
    await writer.stop();
    assert.deepEqual(writer.failed, []);
  });

  test("a write that two members refuse has failed, with the words of the second", async () => {
    const members = [new Stub("the first is down"), new Stub("the second is down"), new Stub()];
    await using writer = new RetryingWriter(members);
    await untilSeen("failures", () => writer.failed.length > 1);
    await writer.stop();
    assert.deepEqual(new Set(writer.failed), new Set(["the second is down"]));
    assert.ok(writer.acknowledged > 0);
  });

  test("a member that does not answer yet holds up no write through the others, and its own count when they end", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const [silent, other] = [new Stub(undefined, () => promise), new Stub()];
    await using writer = new RetryingWriter([silent, other]);
    await untilSeen("writes through the other", () => other.asked > 2 && silent.asked > 2);
    const stopped = writer.stop();
    resolve();
    await stopped;
    assert.equal(writer.acknowledged, silent.asked + other.asked);
  });

  test("an error that does not come from etcd is reported and not counted", async () => {
    const writer = new RetryingWriter([]);
    await nextTurn();
    await assert.rejects(writer.stop(), RangeError);
  });
});
