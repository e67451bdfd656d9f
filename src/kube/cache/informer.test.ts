import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Change } from "./change.ts";
import { ApiError } from "../client/errors.ts";
import { Informer, type InformerEvent, type InformerOptions } from "./informer.ts";
import { settle, SimulatedClock } from "../testing/simulated-clock.ts";
import { TinyServer, things, type Thing } from "../testing/tiny-server.ts";
import { TransportError } from "../../transport/errors.ts";

const never = new AbortController().signal;

function informing(options: Partial<InformerOptions<Thing>> = {}) {
  const clock = new SimulatedClock();
  const server = new TinyServer(clock);
  const stop = new AbortController();
  const events: InformerEvent[] = [];
  const informer = new Informer({
    api: server.api,
    kind: things,
    clock,
    random: () => 0,
    pageSize: 2,
    observe: (event) => events.push(event),
    ...options,
  });
  let done = Promise.resolve();
  const start = async (): Promise<void> => {
    done = informer.run(stop.signal);
    await settle();
    await clock.advance(0);
  };
  const halt = async (): Promise<void> => {
    stop.abort();
    await done;
  };
  /** Cuts the watch, lets things happen that no watch will tell of, and waits until a new list has found them. */
  const gap = async (happens: () => void): Promise<void> => {
    server.cut(new TransportError("broken", "cut"));
    happens();
    server.forget();
    await clock.advance(1000);
  };
  return { clock, server, informer, events, start, halt, gap };
}

function brief(change: Change<Thing>): string {
  const value = `${change.object.metadata?.name}=${change.object.spec?.value}`;
  if (change.type === "updated") return `updated ${change.old.spec?.value}->${value}`;
  return change.type === "added" && change.initial ? `initial ${value}` : `${change.type} ${value}`;
}

function listen(informer: Informer<Thing>): string[] {
  const heard: string[] = [];
  informer.subscribe((change) => heard.push(brief(change)));
  return heard;
}

test("handlers hear of what is there as initial, and of what comes with the object as it was", async () => {
  const { server, informer, start, halt } = informing();
  server.put("a", 1);
  const heard = listen(informer);
  await start();
  server.put("a", 2);
  server.put("b", 1);
  server.remove("a");
  assert.deepEqual(heard, ["initial a=1", "updated 1->a=2", "added b=1", "deleted a=2"]);
  await halt();
});

test("it is synced when a whole list is in the store and received, and not when the first page is", async () => {
  const { server, informer, start, halt } = informing();
  for (let n = 0; n < 5; n += 1) server.put(`t${n}`, n);
  let heardWhenSynced = -1;
  const heard = listen(informer);
  void informer.whenSynced(never).then(() => (heardWhenSynced = heard.length));
  assert.equal(informer.synced, false);
  await start();
  assert.equal(informer.synced, true);
  assert.equal(heardWhenSynced, 5);
  assert.equal(informer.store.size, 5);
  await halt();
});

test("waiting for a sync that never comes ends with its signal", async () => {
  const { informer } = informing();
  const stop = new AbortController();
  const waiting = informer.whenSynced(stop.signal);
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, { message: "enough" });
});

test("a late handler hears of the present objects, then of what comes", async () => {
  const { server, informer, start, halt } = informing();
  server.put("a", 1);
  await start();
  const heard = listen(informer);
  server.put("a", 2);
  assert.deepEqual(heard, ["initial a=1", "updated 1->a=2"]);
  await halt();
});

test("a handler that has left hears nothing more", async () => {
  const { server, informer, start, halt } = informing();
  const heard: string[] = [];
  const leave = informer.subscribe((change) => {
    heard.push(brief(change));
    leave();
  });
  await start();
  server.put("a", 1);
  server.put("b", 1);
  assert.deepEqual(heard, ["added a=1"]);
  await halt();
});

test("a handler that throws is reported and harms neither the other handlers nor the cache", async () => {
  const { server, informer, events, start, halt } = informing();
  informer.subscribe(() => {
    throw new Error("clumsy");
  });
  const heard = listen(informer);
  await start();
  server.put("a", 1);
  server.put("b", 1);
  assert.deepEqual(heard, ["added a=1", "added b=1"]);
  assert.equal(informer.store.size, 2);
  assert.equal(events.filter((event) => event.type === "threw" && event.what === "handler").length, 2);
  await halt();
});

test("all handlers hear of changes in one order, even if one of them causes the next change", async () => {
  const { server, informer, start, halt } = informing();
  informer.subscribe((change) => {
    if (brief(change) === "added a=1") server.put("a", 2);
  });
  const heard = listen(informer);
  await start();
  server.put("a", 1);
  assert.deepEqual(heard, ["added a=1", "updated 1->a=2"]);
  await halt();
});

test("a deletion that no watch reported is found by the next list", async () => {
  const { server, informer, start, gap, halt } = informing();
  server.put("a", 1);
  server.put("b", 1);
  const heard = listen(informer);
  await start();
  await gap(() => server.remove("a"));
  assert.deepEqual(heard, ["initial a=1", "initial b=1", "deleted a=1"]);
  await halt();
});

test("an object that was deleted and recreated in a gap is reported as deleted and added", async () => {
  const { server, informer, start, gap, halt } = informing();
  server.put("a", 1);
  const heard = listen(informer);
  await start();
  await gap(() => {
    server.remove("a");
    server.put("a", 7);
  });
  assert.deepEqual(heard, ["initial a=1", "deleted a=1", "added a=7"]);
  await halt();
});

test("a server that tells old news again changes nothing", async () => {
  const { server, informer, start, halt } = informing();
  await start();
  server.put("a", 1);
  server.put("a", 2);
  server.remove("a");
  server.put("a", 3);
  const heard = listen(informer);
  server.repeatHistory();
  assert.deepEqual(heard, ["initial a=3"]);
  await halt();
});

test("a list that brings nothing new tells nobody anything and keeps the very objects", async () => {
  const { server, informer, events, start, gap, halt } = informing();
  server.put("a", 1);
  await start();
  const heard = listen(informer);
  const before = informer.store.get({ namespace: "ns", name: "a" });
  await gap(() => server.put("b", 1));
  assert.equal(events.filter((event) => event.type === "listed").length, 2);
  assert.deepEqual(heard, ["initial a=1", "added b=1"]);
  assert.equal(informer.store.get({ namespace: "ns", name: "a" }), before);
  await halt();
});

test("what is stored is frozen, lean and of a known kind", async () => {
  const { server, informer, start, halt } = informing({
    transform: (object) => ({ ...object, spec: { value: -1 } }),
  });
  server.put("a", 1, {
    managedFields: [{ manager: "somebody" }],
    labels: { x: "y" },
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{…}", kept: "z" },
  });
  await start();
  const object = informer.store.get({ namespace: "ns", name: "a" })!;
  assert.deepEqual(object.metadata?.annotations, { kept: "z" });
  assert.deepEqual([object.apiVersion, object.kind, object.spec], ["test.invalid/v1", "Thing", { value: -1 }]);
  assert.equal("managedFields" in object.metadata, false);
  assert.throws(() => (object.spec!.value = 5), TypeError);
  assert.throws(() => (object.metadata!.labels!["x"] = "z"), TypeError);
  await halt();
});

test("an object that the transform cannot digest is reported and stored as it is", async () => {
  const { server, informer, events, start, halt } = informing({
    transform: () => {
      throw new Error("indigestible");
    },
  });
  server.put("a", 1);
  await start();
  assert.equal(informer.store.get({ namespace: "ns", name: "a" })?.spec?.value, 1);
  assert.ok(events.some((event) => event.type === "threw" && event.what === "transform"));
  await halt();
});

test("a write is seen when its own event, a later event, a bookmark or a list has come", async () => {
  const a = { namespace: "ns", name: "a" };
  const ways: Record<string, (of: ReturnType<typeof informing>) => unknown> = {
    "its own event": ({ server }) => server.catchUp(),
    "a bookmark": ({ server }) => server.bookmark(),
    "a list": ({ gap }) => gap(() => undefined),
  };
  for (const [way, happen] of Object.entries(ways)) {
    const all = informing();
    await all.start();
    all.server.lagging = true;
    const version = all.server.put("a", 1).metadata!.resourceVersion!;
    let seen = false;
    const waiting = all.informer.waitForVersion(a, version, never).then(() => (seen = true));
    await settle();
    assert.equal(seen, false, way);
    assert.equal(all.informer.hasSeen(a, version), false, way);
    await happen(all);
    await settle();
    assert.equal(seen, true, way);
    await waiting;
    await all.halt();
  }
});

test("a write to an object that is deleted before the cache saw it counts as seen", async () => {
  const { server, informer, start, gap, halt } = informing();
  await start();
  server.lagging = true;
  const version = server.put("a", 1).metadata!.resourceVersion!;
  const waiting = informer.waitForVersion({ namespace: "ns", name: "a" }, version, never);
  await gap(() => server.remove("a"));
  await waiting;
  assert.equal(informer.store.size, 0);
  await halt();
});

test("a deletion is seen when the object is gone, going, or replaced by another of its name", async () => {
  const a = { namespace: "ns", name: "a" };
  const ways: Record<string, (server: TinyServer) => unknown> = {
    gone: (server) => server.remove("a"),
    going: (server) => server.put("a", 1, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    replaced: (server) => server.remove("a") && server.put("a", 2),
  };
  for (const [way, happen] of Object.entries(ways)) {
    const { server, informer, start, halt } = informing();
    const { uid } = server.put("a", 1).metadata!;
    await start();
    server.put("a", 2);
    assert.equal(informer.hasSeenDeletion(a, uid!), false, way);
    happen(server);
    await informer.waitForDeletion(a, uid!, never);
    await halt();
  }
});

test("waiting for a write that never shows ends with its signal and leaves nothing behind", async () => {
  const { informer, start, halt } = informing();
  await start();
  const stop = new AbortController();
  const waiting = informer.waitForVersion({ namespace: "ns", name: "a" }, "999999", stop.signal);
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, { message: "enough" });
  await halt();
});

test("an informer does not run twice at once", async () => {
  const { informer, start, halt } = informing();
  await start();
  await assert.rejects(informer.run(never), /runs already/);
  await halt();
});

const name = fc.constantFrom("a", "b", "c", "d");
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("put" as const), name, value: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("remove" as const), name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("recreate" as const), name, value: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("cut" as const, "end" as const, "expire" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("forget" as const, "bookmark" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("lag" as const, "catchUp" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("showPast" as const, "showPresent" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("refuse" as const), calls: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("subscribe" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(1, 300, 5000, 200_000) }),
  },
);

/** Rebuilds the state from changes alone, and fails on a change that does not fit what was heard before. */
function replay(informer: Informer<Thing>): Map<string, string> {
  const state = new Map<string, Thing>();
  const identities = new Map<string, string>();
  informer.subscribe((change) => {
    const key = change.object.metadata!.name!;
    const held = state.get(key);
    if (change.type === "added") assert.equal(held, undefined, `${key} was added twice`);
    else assert.equal(held?.metadata?.uid, change.object.metadata!.uid, `${key} is not the one that was added`);
    if (change.type === "updated") {
      assert.equal(held, change.old);
      assert.notEqual(change.old.metadata!.resourceVersion, change.object.metadata!.resourceVersion);
    }
    if (change.type === "deleted") state.delete(key);
    else state.set(key, change.object);
    if (change.type === "deleted") identities.delete(key);
    else identities.set(key, identity(change.object));
  });
  return identities;
}

function identity(object: Thing): string {
  return `${object.metadata?.uid}@${object.metadata?.resourceVersion}=${object.spec?.value}`;
}

function identitiesOf(objects: Iterable<Thing>): Map<string, string> {
  return new Map([...objects].map((object) => [object.metadata!.name!, identity(object)]));
}

test("after any series of faults the cache equals a fresh list, and so does what every handler got", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50, size: "max" }), async (steps) => {
      const { clock, server, informer, events, start, halt } = informing();
      const received = [replay(informer)];
      const pasts = [server.state()];
      let refusals = 0;
      server.refuse = () => ((refusals -= 1) >= 0 ? new ApiError(503, "ServiceUnavailable", "no") : undefined);
      await start();
      for (const step of steps) {
        switch (step.do) {
          case "put":
            server.put(step.name, step.value);
            break;
          case "remove":
            server.remove(step.name);
            break;
          case "recreate":
            server.remove(step.name);
            server.put(step.name, step.value);
            break;
          case "cut":
            server.cut(new TransportError("broken", "cut"));
            break;
          case "end":
            server.cut();
            break;
          case "expire":
            server.cut(new ApiError(410, "Expired", "too old"));
            break;
          case "forget":
            server.forget();
            break;
          case "bookmark":
            // A server that lags with its events does not send a bookmark that is ahead of them.
            if (!server.lagging) server.bookmark();
            break;
          case "lag":
            server.lagging = true;
            break;
          case "catchUp":
            server.catchUp();
            break;
          case "showPast":
            server.past = pasts[Math.floor(pasts.length / 2)];
            break;
          case "showPresent":
            server.past = undefined;
            break;
          case "refuse":
            refusals = step.calls;
            break;
          case "subscribe":
            received.push(replay(informer));
            break;
          case "advance":
            await clock.advance(step.ms);
        }
        pasts.push(server.state());
        await settle();
      }
      server.past = undefined;
      refusals = 0;
      server.catchUp();
      await clock.advance(120_000);
      const truth = identitiesOf(server.state().items);
      assert.deepEqual(identitiesOf(informer.store.values()), truth);
      for (const state of received) assert.deepEqual(state, truth);
      assert.deepEqual(
        events.filter((event) => event.type === "threw"),
        [],
      );
      await halt();
      assert.equal(clock.waiting, 0);
    }),
    { numRuns: 300 },
  );
});
