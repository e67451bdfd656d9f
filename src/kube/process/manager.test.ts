import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { eventually } from "../../transport/testing/eventually.ts";
import { whenAborted } from "../abort.ts";
import type { KubeApi } from "../client/api.ts";
import { ApiError } from "../client/errors.ts";
import { Controller } from "../controller/controller.ts";
import { EventRecorder } from "../objects/events.ts";
import { Informer } from "../cache/informer.ts";
import { ConfigMap, Event, Lease } from "../objects/kinds.ts";
import { silent } from "./log.ts";
import { runManager, type ManagerOptions } from "./manager.ts";
import { done, type ReconcileContext } from "../controller/run-reconcile.ts";
import { keyText } from "../objects/objects.ts";
import { RuntimeMetrics } from "./runtime-metrics.ts";
import { RuntimeObserver } from "./runtime-observer.ts";
import { from } from "../controller/source.ts";
import { FakeApi } from "../testing/fake-api/fake-api.ts";

const lease = { namespace: "ops", name: "things" };
const timing = { leaseDuration: 3000, renewDeadline: 2000, retryPeriod: 50 };

function fakeApi(): FakeApi {
  return new FakeApi({ kinds: [{ kind: ConfigMap }, { kind: Lease }, { kind: Event }] });
}

interface Answer {
  status: number | undefined;
  body: string;
}

function ask(port: number | undefined, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      response.on("end", () => resolve({ status: response.statusCode, body }));
    });
    sent.on("error", reject).end();
  });
}

type Run = (key: string, context: ReconcileContext) => Promise<void>;

/** A process with one controller of ConfigMaps. */
function start(api: FakeApi, identity: string, run: Run = async () => {}, more: Partial<ManagerOptions> = {}) {
  const end = new AbortController();
  const metrics = new RuntimeMetrics();
  const reconciles: string[] = [];
  const informer = new Informer({ api, kind: ConfigMap, observe: metrics.informer("ConfigMap") });
  const controller = new Controller({
    name: "things",
    sources: [from(informer)],
    observe: metrics.controller("things"),
    reconcile: async (key, context) => {
      reconciles.push(keyText(key));
      await run(keyText(key), context);
      return done;
    },
  });
  const serving = Promise.withResolvers<number | undefined>();
  const ended = runManager({
    api,
    informers: [informer],
    controllers: [{ controller, lease }],
    identity,
    listen: "127.0.0.1:0",
    observer: new RuntimeObserver(silent, metrics),
    signal: end.signal,
    timing,
    onServing: serving.resolve,
    ...more,
  }).then(
    () => "ended",
    (error: unknown) => error,
  );
  return { end, ended, reconciles, port: serving.promise };
}

const create = (api: FakeApi, name: string) => api.create(ConfigMap, { metadata: { namespace: "n", name } });
const holder = async (api: FakeApi) => (await api.get(Lease, lease)).spec?.holderIdentity ?? "";

test("a process can be asked how it is while it prepares, for as long as that takes", async () => {
  const api = fakeApi();
  const prepared = Promise.withResolvers<void>();
  const a = start(api, "a", undefined, { prepare: () => prepared.promise });
  const port = await a.port;
  assert.deepEqual([(await ask(port, "/healthz")).status, (await ask(port, "/readyz")).status], [200, 503]);
  assert.deepEqual(api.requests, []);
  prepared.resolve();
  await create(api, "x");
  await eventually(
    "a reconcile",
    () => a.reconciles.includes("n/x"),
    () => a.reconciles,
  );
  a.end.abort();
  assert.equal(await a.ended, "ended");
});

test("a process that cannot prepare ends with what went wrong", async () => {
  const failure = new Error("no");
  const a = start(fakeApi(), "a", undefined, { prepare: () => Promise.reject(failure) });
  assert.equal(await a.ended, failure);
});

test("a process is ready when its caches are filled, and only then competes for the lease", async () => {
  const api = fakeApi();
  const thaw = api.faults.freeze({ verb: "list" });
  const a = start(api, "a");
  const port = await a.port;
  assert.deepEqual(await ask(port, "/readyz"), {
    status: 503,
    body: "ok running\nnot ok configmaps: not listed yet\n",
  });
  assert.equal((await ask(port, "/healthz")).status, 200);
  assert.equal(api.requests.filter((call) => call.kind === "Lease").length, 0);
  thaw();
  await create(api, "x");
  await eventually(
    "a reconcile",
    () => a.reconciles.includes("n/x"),
    () => a.reconciles,
  );
  assert.equal((await ask(port, "/readyz")).status, 200);
  const { body } = await ask(port, "/metrics");
  assert.match(body, /^leader_election_master_status\{name="things"\} 1$/m);
  assert.match(body, /^controller_runtime_reconcile_total\{controller="things",result="success"\} 1$/m);
  assert.match(body, /^informer_lists_total\{kind="ConfigMap"\} 1$/m);
  assert.match(body, /^process_resident_memory_bytes \d+$/m);
  a.end.abort();
  assert.equal(await a.ended, "ended");
  await assert.rejects(ask(port, "/healthz"), { code: "ECONNREFUSED" });
});

test("an optional cache that may not be read holds up neither readiness nor the controllers that use it", async () => {
  const api = fakeApi();
  api.faults.fail({ kind: Event }, new ApiError(403, "Forbidden", "no"), { times: Number.POSITIVE_INFINITY });
  const observe = (): void => undefined;
  const configMaps = new Informer({ api, kind: ConfigMap, observe });
  const events = new Informer({ api, kind: Event, optional: "nobody hears of them", observe });
  const seen: boolean[] = [];
  const controller = new Controller({
    name: "things",
    sources: [from(configMaps), from(events)],
    reconcile: async () => {
      seen.push(events.readable);
      return done;
    },
  });
  const a = start(api, "a", undefined, {
    informers: [configMaps, events],
    controllers: [{ controller, lease }],
  });
  await create(api, "x");
  await eventually("a reconcile", () => seen.length > 0);
  assert.deepEqual(seen, [false]);
  assert.deepEqual(await ask(await a.port, "/readyz"), { status: 200, body: "ok running\nok configmaps\n" });
  a.end.abort();
  assert.equal(await a.ended, "ended");
});

test("of two processes one works and the other is ready, and takes over as soon as the first ends", async () => {
  const api = fakeApi();
  const a = start(api, "a");
  await create(api, "x");
  await eventually(
    "a reconcile",
    () => a.reconciles.length > 0,
    () => a.reconciles,
  );
  const b = start(api, "b");
  const port = await b.port;
  await eventually("b's read", () => api.requests.filter((r) => r.kind === "Lease" && r.verb === "get").length > 2);
  assert.equal((await ask(port, "/readyz")).status, 200);
  assert.match((await ask(port, "/metrics")).body, /^leader_election_master_status\{name="things"\} 0$/m);
  assert.deepEqual(b.reconciles, []);
  a.end.abort();
  assert.equal(await a.ended, "ended");
  await eventually(
    "b's reconcile",
    () => b.reconciles.includes("n/x"),
    () => b.reconciles,
  );
  assert.equal(await holder(api), "b");
  b.end.abort();
  assert.equal(await b.ended, "ended");
  assert.equal(await holder(api), "");
});

test("what goes alongside a controller runs in the process that leads, and ends with it", async () => {
  const api = fakeApi();
  const running = new Set<string>();
  const process = (identity: string) => {
    const observer = new RuntimeObserver(silent);
    const controller = new Controller({
      name: "things",
      sources: [],
      observe: observer.controller("things"),
      reconcile: async () => done,
    });
    const alongside = async (fenced: KubeApi, signal: AbortSignal): Promise<void> => {
      running.add(identity);
      await fenced.create(ConfigMap, { metadata: { namespace: "n", name: identity } });
      await whenAborted(signal);
      running.delete(identity);
    };
    return start(api, identity, undefined, { controllers: [{ controller, lease, alongside }] });
  };
  const a = process("a");
  await eventually("a runs it", () => running.has("a"));
  const b = process("b");
  await b.port;
  assert.deepEqual([...running], ["a"]);
  a.end.abort();
  assert.equal(await a.ended, "ended");
  await eventually("b runs it", () => running.has("b"));
  assert.deepEqual([...running], ["b"]);
  b.end.abort();
  assert.equal(await b.ended, "ended");
  assert.equal((await api.list(ConfigMap, {})).items.length, 2);
});

test("the end lets a reconcile finish, with the lease still held and its writes still allowed", async () => {
  const api = fakeApi();
  const started = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const a = start(api, "a", async (key, context) => {
    if (key !== "n/x") return;
    started.resolve();
    await goOn.promise;
    assert.equal(context.fence.holds(), true);
    await context.api.create(ConfigMap, { metadata: { namespace: "n", name: "last" } });
  });
  await create(api, "x");
  await started.promise;
  a.end.abort();
  await create(api, "after");
  assert.equal((await ask(await a.port, "/readyz")).status, 503);
  assert.equal(await holder(api), "a");
  goOn.resolve();
  assert.equal(await a.ended, "ended");
  assert.equal((await api.get(ConfigMap, { namespace: "n", name: "last" })).metadata?.name, "last");
  assert.ok(!a.reconciles.includes("n/after"), "a new key was taken after the end had begun");
});

test("a reconcile that does not finish in time is aborted", async () => {
  const api = fakeApi();
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const a = start(
    api,
    "a",
    (_key, { signal }) => {
      started.resolve();
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          aborted.resolve();
          resolve();
        });
      });
    },
    { drainMs: 20 },
  );
  await create(api, "x");
  await started.promise;
  a.end.abort();
  await aborted.promise;
  assert.equal(await a.ended, "ended");
  assert.equal(await holder(api), "");
});

test("events that were recorded are sent before the end", async () => {
  const api = fakeApi();
  const events = new EventRecorder({ api, reporter: { controller: "things", instance: "a" } });
  const a = start(api, "a", async () => {}, { events });
  const object = await create(api, "x");
  await eventually("a reconcile", () => a.reconciles.length > 0);
  for (let i = 0; i < 3; i += 1) {
    events.record(ConfigMap, object, { type: "Normal", reason: "Seen", action: "Observe", note: "Seen." });
  }
  a.end.abort();
  assert.equal(await a.ended, "ended");
  assert.deepEqual(
    (await api.list(Event)).items.map((event) => event.series?.count),
    [3],
  );
});

test("a part that fails takes the process down in order, and says why", async () => {
  const api = fakeApi();
  const failure = new Error("broken cache");
  const broken = {
    kind: Lease,
    synced: true,
    whenSynced: () => Promise.resolve(),
    run: async (signal: AbortSignal) => {
      await eventually("leadership", () => api.writes.some((write) => write.kind === "Lease"));
      if (!signal.aborted) throw failure;
    },
  };
  const a = start(api, "a", async () => {}, { informers: [broken] });
  // The controller waits for the caches of its sources, which nobody runs here, and must end all the same.
  assert.equal(await a.ended, failure);
  assert.equal(await holder(api), "");
});

test("a port that is taken fails the process before anything is started", async () => {
  const api = fakeApi();
  const a = start(api, "a");
  const port = await a.port;
  const b = start(api, "b", async () => {}, { listen: `127.0.0.1:${port}` });
  assert.equal(((await b.ended) as NodeJS.ErrnoException).code, "EADDRINUSE");
  a.end.abort();
  await a.ended;
});
