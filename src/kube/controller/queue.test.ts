import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { settle, SimulatedClock } from "../testing/simulated-clock.ts";
import type { Priority } from "./lanes.ts";
import { WorkQueue, type QueueEvent, type QueueOptions } from "./queue.ts";

/** A queue whose work the test ends by hand. */
function workshop(options: Partial<QueueOptions> = {}) {
  const clock = new SimulatedClock();
  const inWork = new Map<string, { succeed: () => void; fail: () => void }>();
  const started: string[] = [];
  const events: QueueEvent[] = [];
  const queue = new WorkQueue({
    clock,
    random: () => 0,
    observe: (event) => events.push(event),
    work: ({ key }) => {
      assert.ok(!inWork.has(key), `${key} runs twice at once`);
      started.push(key);
      return new Promise((resolve, reject) => {
        const end = (settled: () => void) => () => {
          inWork.delete(key);
          settled();
        };
        inWork.set(key, { succeed: end(resolve), fail: end(() => reject(new Error("no luck"))) });
      });
    },
    ...options,
  });
  const finish = async (key: string): Promise<void> => {
    inWork.get(key)?.succeed();
    await settle();
  };
  return { clock, queue, inWork, started, events, finish };
}

test("a key that is added many times before it runs, runs once", async () => {
  const { queue, started, finish } = workshop();
  for (let n = 0; n < 5; n += 1) queue.add("a");
  queue.start();
  await settle();
  await finish("a");
  assert.deepEqual(started, ["a"]);
});

test("a key that is added while it runs, runs once more afterwards and not before", async () => {
  const { queue, started, finish } = workshop({ workers: 4 });
  queue.start();
  queue.add("a");
  await settle();
  queue.add("a");
  queue.add("a");
  await settle();
  assert.deepEqual(started, ["a"]);
  await finish("a");
  assert.deepEqual(started, ["a", "a"]);
  await finish("a");
  assert.deepEqual(started, ["a", "a"]);
});

test("no more keys run at once than there are workers", async () => {
  const { queue, started, finish } = workshop({ workers: 2 });
  queue.start();
  for (const key of ["a", "b", "c"]) queue.add(key);
  await settle();
  assert.deepEqual(started, ["a", "b"]);
  assert.equal(queue.depth, 1);
  await finish("b");
  assert.deepEqual(started, ["a", "b", "c"]);
});

test("of two delays for one key the earlier one stands, and an immediate add ends both", async () => {
  const { clock, queue, started, finish } = workshop();
  queue.start();
  queue.addAfter("a", 500);
  queue.addAfter("a", 100);
  queue.addAfter("a", 300);
  await clock.advance(99);
  assert.deepEqual(started, []);
  await clock.advance(1);
  assert.deepEqual(started, ["a"]);
  await finish("a");
  queue.addAfter("a", 1000);
  queue.add("a");
  await settle();
  await finish("a");
  await clock.advance(10_000);
  assert.deepEqual(started, ["a", "a"]);
  assert.equal(clock.waiting, 0);
});

test("a delay that was superseded ten thousand times leaves nothing behind", async () => {
  const { clock, queue, inWork } = workshop();
  queue.start();
  for (let n = 0; n < 10_000; n += 1) {
    queue.addAfter(`k${n % 10}`, 600_000 + n);
    queue.add(`k${n % 10}`);
  }
  for (let n = 0; n < 20; n += 1) {
    await settle();
    for (const work of inWork.values()) work.succeed();
  }
  await settle();
  assert.deepEqual([queue.depth, queue.delayed, queue.running], [0, 0, 0]);
  assert.ok(clock.waiting <= 1);
});

test("each failure in a row waits twice as long up to the cap, and a success starts over", async () => {
  const { clock, queue, events } = workshop({
    backoff: { firstMs: 5, maxMs: 50, jitter: 0 },
    work: async () => undefined,
  });
  queue.start();
  for (let n = 0; n < 6; n += 1) {
    queue.retry("a");
    await clock.advance(1000);
  }
  queue.forget("a");
  queue.retry("a");
  const delays = events.filter((event) => event.type === "retrying").map((event) => event.delayMs);
  assert.deepEqual(delays, [5, 10, 20, 40, 50, 50, 5]);
});

test("work that rejects or throws at once is tried again and harms no other key", async () => {
  const runs: string[] = [];
  const { clock, queue, events } = workshop({
    work: ({ key }) => {
      runs.push(key);
      if (key === "bad" && runs.length === 1) throw new Error("at once");
      return key === "bad" && runs.length < 4 ? Promise.reject(new Error("later")) : Promise.resolve();
    },
  });
  queue.start();
  queue.add("bad");
  queue.add("good");
  await clock.advance(1000);
  assert.deepEqual(runs, ["bad", "good", "bad", "bad"]);
  assert.equal(events.filter((event) => event.type === "threw").length, 2);
});

test("stopping starts nothing more and resolves when the work in hand is done", async () => {
  const { clock, queue, started, finish } = workshop();
  queue.start();
  queue.add("a");
  queue.add("b");
  queue.addAfter("c", 10);
  await settle();
  let stopped = false;
  void queue.stop().then(() => (stopped = true));
  queue.add("d");
  await clock.advance(100);
  assert.equal(stopped, false);
  await finish("a");
  assert.equal(stopped, true);
  assert.deepEqual(started, ["a"]);
  assert.equal(clock.waiting, 0);
});

test("the observer learns how deep the queue is, how long keys waited and how long they took", async () => {
  const { clock, queue, events, finish } = workshop();
  queue.start();
  queue.add("a");
  queue.add("b", "high");
  await clock.advance(30);
  await finish("a");
  await clock.advance(12);
  await finish("b");
  assert.deepEqual(events, [
    { type: "added", key: "a", priority: "normal", depth: 1 },
    { type: "started", key: "a", waitedMs: 0, depth: 0 },
    { type: "added", key: "b", priority: "high", depth: 1 },
    { type: "finished", key: "a", tookMs: 30, depth: 1 },
    { type: "started", key: "b", waitedMs: 30, depth: 0 },
    { type: "finished", key: "b", tookMs: 12, depth: 0 },
  ]);
});

const key = fc.constantFrom("a", "b", "c", "d", "e");
const priority = fc.constantFrom<Priority>("high", "normal", "low");
const step = fc.oneof(
  fc.record({ do: fc.constant("add" as const), key, priority }),
  fc.record({ do: fc.constant("addAfter" as const), key, priority, ms: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ do: fc.constant("succeed" as const), nth: fc.nat(4) }),
  fc.record({ do: fc.constant("fail" as const), nth: fc.nat(4) }),
  fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 30 }) }),
);

test("under any schedule no key runs twice at once, none runs early, none is lost, and no worker idles", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60, size: "max" }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, workers) => {
        /** For each key that is to run: when at the earliest. */
        const wishes = new Map<string, number>();
        const backoff = { firstMs: 7, maxMs: 20, jitter: 0 };
        const { clock, queue, inWork } = workshop({
          workers,
          backoff,
          observe: (event) => {
            if (event.type === "started") {
              const due = wishes.get(event.key);
              assert.ok(due !== undefined && due <= clock.now(), `${event.key} ran at ${clock.now()}, due ${due}`);
              wishes.delete(event.key);
            }
            if (event.type === "retrying") wish(event.key, event.delayMs);
          },
        });
        const wish = (key: string, ms: number): void => {
          wishes.set(key, Math.min(clock.now() + ms, wishes.get(key) ?? Number.POSITIVE_INFINITY));
        };
        const check = (): void => {
          assert.ok(inWork.size <= workers);
          if (inWork.size === workers) return;
          const waiting = [...wishes].filter(([key, at]) => at <= clock.now() && !inWork.has(key));
          assert.deepEqual(waiting, [], "a worker is free and these are due");
        };
        queue.start();
        for (const step of steps) {
          if (step.do === "add" || step.do === "addAfter") {
            const ms = step.do === "add" ? 0 : step.ms;
            wish(step.key, ms);
            queue.addAfter(step.key, ms, step.priority);
          } else if (step.do === "advance") {
            await clock.advance(step.ms);
          } else {
            [...inWork.values()][step.nth]?.[step.do]();
          }
          await settle();
          check();
        }
        for (let round = 0; round < 40 && (wishes.size > 0 || inWork.size > 0); round += 1) {
          for (const work of inWork.values()) work.succeed();
          await clock.advance(10);
          check();
        }
        assert.deepEqual([...wishes], [], "these were asked for and never ran");
        assert.deepEqual([queue.depth, queue.delayed, queue.running], [0, 0, 0]);
      },
    ),
    { numRuns: 200 },
  );
});
