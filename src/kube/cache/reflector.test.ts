import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../client/errors.ts";
import { reflect, type ReflectorEvent } from "./reflector.ts";
import { SimulatedClock } from "../testing/simulated-clock.ts";
import { TinyServer, things, type Thing } from "../testing/tiny-server.ts";
import { TransportError } from "../../transport/errors.ts";

const tooLarge = (): Error => new TransportError("tooLarge", "more than 16 MiB");
const broken = (): Error => new TransportError("broken", "cut");
const expired = (): Error => new ApiError(410, "Expired", "too old");
const aheadOfServer = (): Error => new ApiError(504, "Timeout", "not yet", [{ reason: "ResourceVersionTooLarge" }]);

/** A reflector at work on a tiny server, with everything that it received. */
function reflecting(prepare: (server: TinyServer) => void = () => undefined, pageSize = 100, chance = 0) {
  const clock = new SimulatedClock();
  const server = new TinyServer(clock);
  const stop = new AbortController();
  const received: string[] = [];
  const events: ReflectorEvent[] = [];
  const nameAndValue = (object: Thing): string => `${object.metadata?.name}=${object.spec?.value}`;
  prepare(server);
  const done = reflect(
    {
      api: server.api,
      kind: things,
      selection: { namespace: "ns" },
      sink: {
        admit: (object) => object,
        replace: (objects, version) => received.push(`list ${objects.map(nameAndValue).join(" ")} @${version}`),
        put: (object) => received.push(`put ${nameAndValue(object)}`),
        remove: (object) => received.push(`remove ${object.metadata?.name}`),
        advance: () => undefined,
      },
      clock,
      random: () => chance,
      pageSize,
      optional: false,
      observe: (event) => events.push(event),
    },
    stop.signal,
  );
  const calls = (verb: string) => server.calls.filter((call) => call.verb === verb).map((call) => call.options);
  const versions = (verb: string) => calls(verb).map((options) => options.resourceVersion);
  const retries = () => events.filter((event) => event.type === "failed").map((event) => event.retryInMs);
  const halt = async (): Promise<void> => {
    stop.abort();
    await done;
    assert.equal(clock.waiting, 0, "timers are left");
    assert.equal(server.watchers, 0, "watches are left");
  };
  return { clock, server, received, events, calls, versions, retries, halt };
}

test("pages that are too large are asked for in halves, and the next list begins with whole ones", async () => {
  const { clock, server, received, calls, halt } = reflecting((server) => {
    for (let n = 0; n < 5; n += 1) server.put(`t${n}`, n);
    const { api } = server;
    const list = api.list.bind(api);
    api.list = async (kind, options = {}) => {
      const page = await list(kind, options);
      if (page.items.length > 2) throw tooLarge();
      return page;
    };
  }, 8);
  await clock.advance(60_000);
  assert.deepEqual(received, ["list t0=0 t1=1 t2=2 t3=3 t4=4 @105"]);
  assert.deepEqual(
    calls("list").map(({ limit }) => limit),
    [8, 4, 2, 2, 2],
  );
  server.forget();
  server.cut(expired());
  await clock.advance(200);
  assert.equal(calls("list").at(5)?.limit, 8);
  await halt();
});

test("an event that is too large is gone past with a list", async () => {
  const { clock, server, received, calls, halt } = reflecting();
  await clock.advance(0);
  server.lagging = true;
  server.put("a", 1);
  server.cut(tooLarge());
  server.lagging = false;
  await clock.advance(10_000);
  assert.deepEqual(received, ["list  @100", "list a=1 @101"]);
  assert.equal(calls("list").length, 2);
  await halt();
});

test("it lists in pages of one snapshot and watches from there", async () => {
  const { clock, server, received, calls, halt } = reflecting((server) => {
    for (let n = 0; n < 5; n += 1) server.put(`t${n}`, n);
  }, 2);
  await clock.advance(0);
  server.put("t5", 5);
  server.remove("t0");
  assert.deepEqual(received, ["list t0=0 t1=1 t2=2 t3=3 t4=4 @105", "put t5=5", "remove t0"]);
  assert.deepEqual(
    calls("list").map(({ limit, resourceVersion, namespace }) => ({ limit, resourceVersion, namespace })),
    Array.from({ length: 3 }, () => ({ limit: 2, resourceVersion: undefined, namespace: "ns" })),
  );
  await halt();
});

test("a watch that the server ends at its timeout is resumed at once from the last version, without a list", async () => {
  const { clock, server, received, calls, versions, halt } = reflecting();
  await clock.advance(0);
  server.put("a", 1);
  await clock.advance(240_000);
  assert.deepEqual(versions("watch"), ["100", "101"]);
  server.put("a", 2);
  assert.deepEqual(received, ["list  @100", "put a=1", "put a=2"]);
  assert.equal(calls("list").length, 1);
  await halt();
});

test("a bookmark moves the place from which a broken watch is resumed", async () => {
  const { clock, server, versions, halt } = reflecting();
  await clock.advance(0);
  server.version = 777;
  server.bookmark();
  server.cut(broken());
  await clock.advance(200);
  assert.deepEqual(versions("watch"), ["100", "777"]);
  await halt();
});

test("what happened between a cut and the next watch is reported by the next watch", async () => {
  const { clock, server, received, halt } = reflecting();
  await clock.advance(0);
  server.cut(broken());
  server.put("a", 1);
  server.put("a", 2);
  await clock.advance(200);
  assert.deepEqual(received, ["list  @100", "put a=1", "put a=2"]);
  await halt();
});

for (const form of ["at the start of a watch", "in the middle of a watch"]) {
  test(`when the server has forgotten the place ${form}, it lists again, and nothing older than it has seen`, async () => {
    const { clock, server, received, calls, halt } = reflecting();
    await clock.advance(20_000);
    server.lagging = true;
    server.put("a", 1);
    server.forget();
    server.lagging = false;
    server.cut(form.startsWith("at") ? undefined : expired());
    await clock.advance(200);
    assert.deepEqual(received, ["list  @100", "list a=1 @101"]);
    const second = calls("list")[1];
    assert.deepEqual([second?.resourceVersion, second?.resourceVersionMatch], ["100", "NotOlderThan"]);
    await halt();
  });
}

test("a server that forgets every place at once is not listed in a busy loop", async () => {
  const { clock, calls, halt } = reflecting((server) => {
    server.refuse = (verb) => (verb === "watch" ? expired() : undefined);
  });
  await clock.advance(60_000);
  assert.ok(calls("list").length < 20, `${calls("list").length} lists in a minute`);
  assert.ok(calls("list").length > 5, `${calls("list").length} lists in a minute`);
  await halt();
});

test("a server that ends every watch at once is not asked in a busy loop", async () => {
  const { clock, server, calls, halt } = reflecting();
  const { api } = server;
  const watch = api.watch.bind(api);
  api.watch = async (kind, options, onEvent) => {
    const watching = watch(kind, options, onEvent);
    server.cut();
    await watching;
  };
  await clock.advance(60_000);
  assert.ok(calls("watch").length < 20, `${calls("watch").length} watches in a minute`);
  await halt();
});

test("failures back off from a fifth of a second to five seconds, and never end the reflector", async () => {
  const { clock, server, received, retries, halt } = reflecting((server) => {
    server.refuse = () => new ApiError(500, "InternalError", "no");
  });
  await clock.advance(10 * 60_000);
  assert.deepEqual(retries().slice(0, 10), [200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 5000]);
  server.refuse = () => undefined;
  await clock.advance(5_000);
  assert.deepEqual(received, ["list  @100"]);
  await halt();
});

test("a healthy watch makes the next failure the first one again", async () => {
  const { clock, server, retries, halt } = reflecting();
  await clock.advance(1000);
  for (let n = 0; n < 3; n += 1) {
    server.cut(broken());
    await clock.advance(2000);
  }
  await clock.advance(10_000);
  server.cut(broken());
  await clock.advance(0);
  assert.deepEqual(retries(), [200, 400, 800, 200]);
  await halt();
});

test("watches that bring news and are cut again and again are resumed each time as after a first failure", async () => {
  const { clock, server, received, retries, halt } = reflecting();
  await clock.advance(0);
  for (let n = 0; n < 10; n += 1) {
    server.put("a", n);
    server.cut(broken());
    await clock.advance(200);
  }
  assert.deepEqual(
    retries(),
    Array.from({ length: 10 }, () => 200),
  );
  assert.equal(received.length, 11);
  await halt();
});

test("a server that tells a little and then forgets the place, again and again, is not listed in a busy loop", async () => {
  const { clock, server, calls, halt } = reflecting();
  const { api } = server;
  const watch = api.watch.bind(api);
  api.watch = async (kind, options, onEvent) => {
    const watching = watch(kind, options, onEvent);
    server.put("a", calls("watch").length);
    server.cut(expired());
    await watching;
  };
  await clock.advance(60_000);
  assert.ok(calls("list").length < 20, `${calls("list").length} lists in a minute`);
  await halt();
});

test("a server that asks to be left alone is left alone for that long", async () => {
  const { clock, calls, halt } = reflecting((server) => {
    server.refuse = () => new ApiError(429, "TooManyRequests", "busy", [], 7000);
  });
  await clock.advance(6999);
  assert.equal(calls("list").length, 1);
  await clock.advance(1);
  assert.equal(calls("list").length, 2);
  await halt();
});

test("a page token that expires half-way leads to a list in one piece", async () => {
  let lists = 0;
  const { clock, received, calls, halt } = reflecting((server) => {
    for (let n = 0; n < 5; n += 1) server.put(`t${n}`, n);
    server.refuse = (verb) => {
      if (verb === "list" && (lists += 1) === 2) return expired();
      return undefined;
    };
  }, 2);
  await clock.advance(1000);
  assert.deepEqual(received, ["list t0=0 t1=1 t2=2 t3=3 t4=4 @105"]);
  assert.deepEqual(
    calls("list").map(({ limit }) => limit),
    [2, 2, undefined],
  );
  await halt();
});

test("a list from the past is not believed", async () => {
  const { clock, server, received, events, halt } = reflecting((server) => server.put("a", 1));
  await clock.advance(0);
  const past = server.state();
  server.remove("a");
  server.past = past;
  server.forget();
  server.cut(expired());
  await clock.advance(60_000);
  assert.deepEqual(received, ["list a=1 @101", "remove a"]);
  assert.ok(
    events.some((event) => event.type === "olderListRefused" && event.seen === "102" && event.offered === "101"),
  );
  server.past = undefined;
  await clock.advance(60_000);
  assert.deepEqual(received, ["list a=1 @101", "remove a", "list  @102"]);
  await halt();
});

test("a server that was restored from a backup, and so is behind for minutes, is believed in the end", async () => {
  const { clock, server, received, events, halt } = reflecting();
  await clock.advance(0);
  server.version = 500;
  server.bookmark();
  server.version = 300;
  server.refuse = () => {
    const asked = server.calls.at(-1);
    return asked?.verb === "list" && asked.options.resourceVersion !== undefined ? aheadOfServer() : undefined;
  };
  // Its watches are silent: it waits for version 500 to come.
  await clock.advance(240_000);
  server.cut();
  await clock.advance(240_000 + 200_000);
  assert.deepEqual(received, ["list  @100", "list  @300"]);
  assert.ok(events.some((event) => event.type === "olderListBelieved"));
  await halt();
});

test("an abort during a list, a pause or a watch ends the reflector and tells nothing more", async () => {
  for (const when of ["list", "pause", "watch"]) {
    const { clock, server, received, calls, halt } = reflecting((server) => {
      if (when === "pause") server.refuse = () => new ApiError(500, "InternalError", "no");
    });
    if (when !== "list") await clock.advance(10);
    await halt();
    const asked = calls("list").length + calls("watch").length;
    server.put("late", 1);
    await clock.advance(100_000);
    assert.deepEqual(received, when === "watch" ? ["list  @100"] : []);
    assert.equal(calls("list").length + calls("watch").length, asked);
  }
});

test("watches end at different times, between four and eight minutes", async () => {
  for (const [chance, seconds] of [
    [0, 240],
    [0.5, 360],
    [0.999999, 480],
  ] as const) {
    const { clock, calls, halt } = reflecting(undefined, 100, chance);
    await clock.advance(0);
    assert.equal(calls("watch")[0]?.timeoutSeconds, seconds);
    await halt();
  }
});
