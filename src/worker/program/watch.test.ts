import assert from "node:assert/strict";
import { test } from "node:test";
import { logger } from "../../kube/process/log.ts";
import { SimulatedClock } from "../../kube/testing/simulated-clock.ts";
import { WorkerFailure } from "./failure.ts";
import { type Watch, watched } from "./watch.ts";

function setUp(signal: AbortSignal = new AbortController().signal) {
  const clock = new SimulatedClock();
  const lines: string[] = [];
  const log = logger({ write: (line) => void lines.push(line) });
  const options = { clock, log, signal, stalledAfterSeconds: 30, what: "upload" };
  return { clock, lines, options };
}

const aborts = ({ signal }: Watch): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));

test("work that moves takes as long as it likes, and says how far it is", async () => {
  const { clock, lines, options } = setUp();
  const done = Promise.withResolvers<string>();
  let watch: Watch | undefined;
  const result = watched(options, (given) => {
    watch = given;
    return done.promise;
  });
  for (let seconds = 0; seconds < 3600; seconds += 29) {
    watch?.moved(1000);
    await clock.advance(29_000);
  }
  done.resolve("all of it");
  assert.equal(await result, "all of it");
  assert.equal(clock.waiting, 0);
  assert.match(lines[0] ?? "", /"message":"upload: under way","bytes":1000,"bytesPerSecond":200/);
  assert.match(lines.at(-1) ?? "", /"upload: done","bytes":125000/);
  assert.equal(lines.length, 126); // nothing is said while nothing moves
});

test("work that stands still is aborted, and the failure says so", async () => {
  const { clock, options } = setUp();
  const result = watched(options, (watch) => {
    watch.moved(5);
    return aborts(watch);
  });
  result.catch(() => {});
  await clock.advance(31_000);
  await assert.rejects(result, (error) => error instanceof WorkerFailure && error.code === "stalled");
  assert.equal(clock.waiting, 0);
});

test("work that does not notice its abortion is left behind", async () => {
  const { clock, options } = setUp();
  const result = watched(options, () => new Promise(() => {}));
  result.catch(() => {});
  await clock.advance(31_000 + 10_000);
  await assert.rejects(result, (error) => error instanceof WorkerFailure && error.code === "stalled");
});

test("a process that is asked to end aborts the work, which says why", async () => {
  const end = new AbortController();
  const { options } = setUp(end.signal);
  const result = watched(options, aborts);
  end.abort(new Error("asked to end"));
  await assert.rejects(result, /asked to end/);
});

test("an error of the work is the caller's", async () => {
  const { clock, options } = setUp();
  await assert.rejects(
    watched(options, () => Promise.reject(new Error("refused"))),
    /refused/,
  );
  assert.equal(clock.waiting, 0);
});
