import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { pause } from "../clock.ts";
import { Controller, type ControllerEvent, type ControllerOptions } from "./controller.ts";
import { ApiError } from "../client/errors.ts";
import { Informer } from "../cache/informer.ts";
import {
  ReconcileAborted,
  again,
  done,
  failed,
  type Next,
  type ReconcileContext,
  type Reconcile,
} from "./run-reconcile.ts";
import { keyText } from "../objects/objects.ts";
import { settle, SimulatedClock } from "../testing/simulated-clock.ts";
import { from } from "./source.ts";
import { things, TinyServer } from "../testing/tiny-server.ts";
import { TransportError } from "../../transport/errors.ts";

const a = { namespace: "ns", name: "a" };

/** A controller of things on a tiny server; `reconciles` notes which key ran when. */
function controlling(reconcile: Reconcile, options: Partial<ControllerOptions> = {}, present = ["a"]) {
  const clock = new SimulatedClock();
  const server = new TinyServer(clock);
  const stop = new AbortController();
  const events: ControllerEvent[] = [];
  const reconciles: string[] = [];
  const informer = new Informer({ api: server.api, kind: things, clock, random: () => 0, observe: () => undefined });
  const controller = new Controller({
    name: "things",
    sources: [from(informer)],
    clock,
    random: () => 0,
    observe: (event) => events.push(event),
    ...options,
    reconcile: (key, context) => {
      reconciles.push(`${keyText(key)} at ${clock.now()}`);
      return reconcile(key, context);
    },
  });
  for (const name of present) server.put(name, 0);
  let running: Promise<unknown> = Promise.resolve();
  const start = async (): Promise<void> => {
    running = Promise.all([informer.run(stop.signal), controller.run(server.api, stop.signal)]);
    await clock.advance(0);
  };
  const ofType = <K extends ControllerEvent["type"]>(type: K) =>
    events.filter((event): event is Extract<ControllerEvent, { type: K }> => event.type === type);
  const halt = async (): Promise<void> => {
    stop.abort(new Error("stop"));
    await running;
    await settle();
    assert.equal(clock.waiting, 0, "timers are left");
  };
  return { clock, server, informer, controller, reconciles, events, ofType, start, halt };
}

test("no reconcile runs before the caches are filled, and then one for each object", async () => {
  const seen: number[] = [];
  const { informer, reconciles, start, halt } = controlling(
    async () => {
      seen.push(informer.store.size);
      return done;
    },
    {},
    ["a", "b", "c"],
  );
  await start();
  assert.deepEqual(reconciles, ["ns/a at 0", "ns/b at 0", "ns/c at 0"]);
  assert.deepEqual(seen, [3, 3, 3]);
  await halt();
});

test("a controller whose caches never fill ends with its signal", async () => {
  const clock = new SimulatedClock();
  const server = new TinyServer(clock);
  const informer = new Informer({ api: server.api, kind: things, clock, observe: () => undefined });
  const reconcile = (): Promise<Next> => Promise.reject(new Error("must not run"));
  const controller = new Controller({ name: "things", sources: [from(informer)], clock, reconcile });
  const stop = new AbortController();
  const running = controller.run(server.api, stop.signal);
  await settle();
  stop.abort();
  await running;
  assert.equal(clock.waiting, 0);
});

test("keys that are requeued do not stay ahead of a new urgent one", async () => {
  const { clock, controller, reconciles, start, halt } = controlling(
    async ({ name }, { signal }) => {
      await pause(clock, 10, signal);
      return name === "new" ? done : again(0);
    },
    {},
    [],
  );
  await start();
  for (const name of ["a", "b", "c"]) controller.enqueue(`ns/${name}`, "high");
  // All of them wait for their second reconcile, one of them in it.
  await clock.advance(35);
  controller.enqueue("ns/new", "high");
  await clock.advance(10);
  assert.deepEqual(reconciles.slice(0, 5), ["ns/a at 0", "ns/b at 10", "ns/c at 20", "ns/a at 30", "ns/new at 40"]);
  await halt();
});

const endings: [name: string, next: () => Next, when: number[]][] = [
  ["done: not again", () => done, [0]],
  ["again: after the time it says", () => again(400), [0, 400, 800]],
  ["failed: with growing delays", () => failed(new Error("no")), [0, 100, 300, 700]],
  [
    "a throw: like failed",
    () => {
      throw new Error("oops");
    },
    [0, 100, 300, 700],
  ],
  ["failed because the server is busy: not before it allows", () => failed(busy()), [0, 900]],
];
const busy = (): Error => new ApiError(429, "TooManyRequests", "busy", [], 900);

for (const [name, next, when] of endings) {
  test(`when a reconcile comes again – ${name}`, async () => {
    const backoff = { firstMs: 100, maxMs: 60_000, jitter: 0 };
    const { clock, reconciles, start, halt } = controlling(async () => next(), { backoff });
    await start();
    await clock.advance(1000);
    assert.deepEqual(
      reconciles,
      when.map((at) => `ns/a at ${at}`),
    );
    await halt();
  });
}

test("an event brings a key back that failed, before its back-off is over", async () => {
  const { server, reconciles, start, halt } = controlling(async () => failed(new Error("bad spec")));
  await start();
  server.put("a", 1);
  await settle();
  assert.equal(reconciles.length, 2);
  await halt();
});

test("a success between two failures restarts the back-off", async () => {
  const results: Next[] = [failed(new Error("1")), failed(new Error("2")), again(50), failed(new Error("3")), done];
  const backoff = { firstMs: 100, maxMs: 60_000, jitter: 0 };
  const { clock, reconciles, start, halt } = controlling(async () => results.shift() ?? done, { backoff });
  await start();
  await clock.advance(5000);
  assert.deepEqual(
    reconciles,
    [0, 100, 300, 350, 450].map((at) => `ns/a at ${at}`),
  );
  await halt();
});

test("a reconcile is aborted at its deadline, and its key runs nowhere else until it has", async () => {
  let end: () => void = () => undefined;
  const reasons: unknown[] = [];
  const { clock, server, reconciles, ofType, start, halt } = controlling(
    (_key, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        end = () => resolve(done);
      }),
    { deadlineMs: 5000, workers: 3 },
  );
  await start();
  server.put("a", 1);
  await clock.advance(4999);
  assert.deepEqual(reasons, []);
  await clock.advance(1);
  assert.deepEqual(reasons, [new ReconcileAborted("deadline")]);
  await clock.advance(10_000);
  assert.equal(reconciles.length, 1);
  assert.equal(ofType("reconcileOverdue").length, 1);
  end();
  await settle();
  assert.equal(reconciles.length, 2);
  assert.equal(ofType("reconcileEnded")[0]?.cutShort, "deadline");
  end();
  await halt();
});

test("more objects than workers whose reconciles wait for ever hold up the others for a deadline each, and no longer", async () => {
  const hostile = ["a", "b", "c"];
  const { clock, reconciles, start, halt } = controlling(
    ({ name }, { signal }) =>
      hostile.includes(name)
        ? new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))
        : Promise.resolve(again(1000)),
    { deadlineMs: 5000, workers: 2, backoff: { firstMs: 100, maxMs: 100, jitter: 0 } },
    [...hostile, "d"],
  );
  await start();
  await clock.advance(120_000);
  const times = reconciles.filter((one) => one.startsWith("ns/d")).map((one) => Number(one.split(" ").at(-1)));
  const gaps = times.map((at, n) => at - (times[n - 1] ?? 0));
  assert.ok(times.length > 10, `the neighbour was reconciled ${times.length} times`);
  assert.ok(Math.max(...gaps) <= 2 * 5000 + 1000, `the neighbour waited for ${Math.max(...gaps)} ms`);
  await halt();
});

test("a stop aborts the reconciles that run and waits for them", async () => {
  const { ofType, start, halt } = controlling(
    (_key, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
  );
  await start();
  await halt();
  assert.deepEqual(
    ofType("reconcileEnded").map(({ cutShort, next }) => [cutShort, next.next]),
    [["stop", "failed"]],
  );
});

test("a drain lets the reconciles that run come to their own end and starts no other", async () => {
  let end: () => void = () => undefined;
  const { controller, server, reconciles, ofType, start, halt } = controlling(
    () => new Promise((resolve) => (end = () => resolve(done))),
  );
  await start();
  let drained = false;
  const draining = controller.drain().then(() => (drained = true));
  server.put("b", 1);
  await settle();
  assert.equal(drained, false);
  end();
  await draining;
  assert.deepEqual(reconciles, ["ns/a at 0"]);
  assert.equal(ofType("reconcileEnded")[0]?.cutShort, undefined);
  await halt();
});

test("a call that a reconcile forgot to wait for is aborted when the reconcile has ended", async () => {
  let late: ReconcileContext | undefined;
  const { start, halt } = controlling(async (_key, context) => {
    late = context;
    return done;
  });
  await start();
  assert.ok(late?.signal.aborted);
  await halt();
});

test("every reconcile has an id of its own", async () => {
  const ids: string[] = [];
  const { server, start, halt } = controlling(async (_key, { id }) => {
    ids.push(id);
    return done;
  });
  await start();
  server.put("a", 1);
  await settle();
  assert.equal(new Set(ids).size, 2);
  await halt();
});

test("every object is reconciled again in the course of a resync, even if no event says so", async () => {
  const { clock, reconciles, start, halt } = controlling(async () => done, { resyncMs: 60_000 }, ["a", "b"]);
  await start();
  await clock.advance(60_000);
  assert.deepEqual(reconciles, ["ns/a at 0", "ns/b at 0", "ns/a at 60000", "ns/b at 60000"]);
  await halt();
});

test("a controller can run again after it has stopped, and starts from the whole state", async () => {
  const clock = new SimulatedClock();
  const server = new TinyServer(clock);
  server.put("a", 0);
  const life = new AbortController();
  const informer = new Informer({ api: server.api, kind: things, clock, observe: () => undefined });
  let reconciles = 0;
  const controller = new Controller({
    name: "things",
    sources: [from(informer)],
    clock,
    reconcile: async () => {
      reconciles += 1;
      return done;
    },
  });
  const informing = informer.run(life.signal);
  for (const term of [1, 2]) {
    const stop = new AbortController();
    const running = controller.run(server.api, stop.signal);
    await clock.advance(0);
    assert.equal(reconciles, term);
    stop.abort();
    await running;
  }
  life.abort();
  await informing;
});

test("the next reconcile of a key waits until the cache shows what the last one wrote", async () => {
  const views: (number | undefined)[] = [];
  const { clock, server, informer, controller, reconciles, ofType, start, halt } = controlling(
    async (_key, { api }) => {
      views.push(informer.store.get(a)?.spec?.value);
      if (views.length === 1) {
        server.lagging = true;
        await api.mergePatch(things, a, { spec: { value: 7 } });
      }
      return done;
    },
  );
  await start();
  controller.enqueue("ns/a");
  await clock.advance(30_000);
  assert.equal(reconciles.length, 1);
  server.catchUp();
  await settle();
  assert.deepEqual(views, [0, 7]);
  assert.deepEqual(ofType("cachesCaughtUp"), [{ type: "cachesCaughtUp", key: "ns/a", waitedMs: 30_000 }]);
  await halt();
});

test("a key that waits for the cache keeps no worker from the other keys", async () => {
  const { clock, server, controller, reconciles, start, halt } = controlling(async (key, { api }) => {
    server.lagging = true;
    if (key.name === "a") await api.mergePatch(things, key, { spec: { value: 7 } });
    return done;
  });
  await start();
  for (const key of ["ns/a", "ns/b", "ns/c"]) controller.enqueue(key);
  await clock.advance(10);
  assert.deepEqual(reconciles, ["ns/a at 0", "ns/b at 0", "ns/c at 0"]);
  await halt();
});

test("a reconcile that failed after a write waits for that write too", async () => {
  const { clock, server, reconciles, start, halt } = controlling(async (_key, { api }) => {
    if (reconciles.length > 1) return done;
    server.lagging = true;
    await api.mergePatch(things, a, { spec: { value: 7 } });
    throw new Error("crashed after the write");
  });
  await start();
  await clock.advance(30_000);
  assert.equal(reconciles.length, 1);
  server.catchUp();
  await settle();
  assert.equal(reconciles.length, 2);
  await halt();
});

test("a deletion is waited for, whether by uid or by name", async () => {
  for (const byUid of [true, false]) {
    const { clock, server, informer, controller, reconciles, start, halt } = controlling(async (_key, { api }) => {
      const uid = informer.store.get(a)?.metadata?.uid;
      if (uid === undefined) return done;
      server.lagging = true;
      await api.delete(things, a, byUid ? { uid } : {});
      return done;
    });
    await start();
    controller.enqueue("ns/a");
    await clock.advance(30_000);
    assert.equal(reconciles.length, 1);
    server.catchUp();
    await settle();
    assert.equal(reconciles.length, 2);
    await halt();
  }
});

test("an object that a reconcile made and deleted again does not come to life in the next reconcile", async () => {
  const b = { namespace: "ns", name: "b" };
  const views: boolean[] = [];
  const { clock, server, informer, controller, start, halt } = controlling(async (_key, { api }) => {
    views.push(informer.store.get(b) !== undefined);
    if (views.length > 1) return done;
    server.lagging = true;
    const made = await api.create(things, { metadata: b });
    await api.delete(things, b, { uid: made.metadata?.uid ?? "" });
    return done;
  });
  await start();
  controller.enqueue("ns/a");
  await clock.advance(1000);
  assert.deepEqual(views, [false]);
  server.catchUp();
  await settle();
  assert.equal(views[1], false);
  await halt();
});

test("after a write of which nobody knows whether it happened, the server is asked and the cache awaited", async () => {
  for (const happened of [true, false]) {
    const views: (number | undefined)[] = [];
    const { clock, server, informer, reconciles, start, halt } = controlling(async (_key, { api }) => {
      views.push(informer.store.get(a)?.spec?.value);
      if (views.length > 1) return done;
      server.lagging = true;
      server.refuse = (verb) => {
        if (verb !== "mergePatch") return undefined;
        if (happened) server.put("a", 7);
        return new TransportError("broken", "the answer was lost");
      };
      await api.mergePatch(things, a, { spec: { value: 7 } });
      return done;
    });
    await start();
    await clock.advance(1000);
    assert.equal(reconciles.length, happened ? 1 : 2);
    server.catchUp();
    await settle();
    assert.deepEqual(views, happened ? [0, 7] : [0, 0]);
    await halt();
  }
});

test("a write that no cache will show is not waited for", async () => {
  const { server, controller, reconciles, start, halt } = controlling(async (_key, { api }) => {
    server.lagging = true;
    await api.mergePatch({ ...things, kind: "Other" }, a, { spec: { value: 7 } });
    await api.mergePatch(things, a, { spec: { value: 8 } }, { dryRun: true });
    return done;
  });
  await start();
  controller.enqueue("ns/a");
  await settle();
  assert.equal(reconciles.length, 2);
  await halt();
});

test("a cache that does not show a write in time is reported, and the key goes on", async () => {
  const { clock, server, controller, reconciles, ofType, start, halt } = controlling(
    async (_key, { api }) => {
      server.lagging = true;
      if (reconciles.length === 1) await api.mergePatch(things, a, { spec: { value: 7 } });
      return done;
    },
    { catchUpMs: 20_000 },
  );
  await start();
  controller.enqueue("ns/a");
  await clock.advance(19_999);
  assert.equal(reconciles.length, 1);
  await clock.advance(1);
  assert.equal(reconciles.length, 2);
  const [lag] = ofType("cachesLag");
  assert.deepEqual(
    lag?.missing.map((write) => [write.did, write.key]),
    [["write", a]],
  );
  await halt();
});

test("however late the cache is, a reconcile that makes what it does not see never makes it twice", async () => {
  const step = fc.constantFrom("lag", "catchUp", "enqueue", "advance", "cut", "forget", "removeChild");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
      const child = { namespace: "ns", name: "child" };
      let doubles = 0;
      const { clock, server, informer, controller, start, halt } = controlling(async (key, { api }) => {
        if (key.name !== "a" || informer.store.get(child) !== undefined) return done;
        if (server.state().items.some((object) => object.metadata?.name === "child")) doubles += 1;
        await api.create(things, { metadata: child });
        return done;
      });
      await start();
      for (const step of steps) {
        if (step === "lag") server.lagging = true;
        if (step === "catchUp") server.catchUp();
        if (step === "enqueue") controller.enqueue("ns/a");
        if (step === "cut") server.cut(new TransportError("broken", "cut"));
        if (step === "forget") server.forget();
        // Somebody else may delete it at any time, and then it is to be made again.
        if (step === "removeChild") server.remove("child");
        await clock.advance(step === "advance" ? 3000 : 1);
      }
      assert.equal(doubles, 0);
      server.catchUp();
      await clock.advance(60_000);
      controller.enqueue("ns/a");
      await clock.advance(60_000);
      assert.ok(informer.store.get(child) !== undefined, "the child was not made in the end");
      await halt();
    }),
    { numRuns: 100 },
  );
});
