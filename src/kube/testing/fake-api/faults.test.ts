// What a test can do to a caller of the in-memory API: every fault, and that nothing else changes with it.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { TransportError } from "../../../transport/errors.ts";
import type { WatchEvent } from "../../client/api.ts";
import { ApiError } from "../../client/errors.ts";
import { ConfigMap, Secret } from "../../objects/kinds.ts";
import { SimulatedClock, settle } from "../simulated-clock.ts";
import { FakeApi } from "./fake-api.ts";

const namespace = "default";
const key = (name: string): { namespace: string; name: string } => ({ namespace, name });
const map = (name: string, data: Record<string, string> = {}): ConfigMap => ({ metadata: key(name), data });

function setUp(): { api: FakeApi; clock: SimulatedClock } {
  const clock = new SimulatedClock();
  return { api: new FakeApi({ kinds: [{ kind: ConfigMap }, { kind: Secret }], clock }), clock };
}

function follow(api: FakeApi, resourceVersion = "0"): { names: string[]; ended: Promise<unknown>; stop: () => void } {
  const aborter = new AbortController();
  const names: string[] = [];
  const onEvent = (event: WatchEvent<ConfigMap>): void => {
    names.push(event.type === "BOOKMARK" ? "bookmark" : `${event.type} ${event.object.metadata?.name}`);
  };
  const ended = api.watch(ConfigMap, { resourceVersion, signal: aborter.signal }, onEvent).then(
    () => "clean",
    (error: unknown) => error,
  );
  return { names, ended, stop: () => aborter.abort(new Error("stopped")) };
}

test("only the calls that match fail, and only as often as asked", async () => {
  const { api } = setUp();
  const error = new ApiError(500, "InternalError", "etcd has no leader");
  api.faults.fail({ verb: "create", kind: ConfigMap, name: "a" }, error, { times: 2 });
  await api.create(ConfigMap, map("b"));
  await api.create(Secret, { metadata: key("a") });
  await assert.rejects(api.create(ConfigMap, map("a")), error);
  await assert.rejects(api.create(ConfigMap, map("a")), error);
  await api.create(ConfigMap, map("a"));
});

test("a call that fails before the server saw it changes nothing, one that fails after it did", async () => {
  const { api } = setUp();
  api.faults.breakConnection({ verb: "create", name: "before" });
  api.faults.breakConnection({ verb: "create", name: "after" }, { when: "after" });
  await assert.rejects(api.create(ConfigMap, map("before")), TransportError);
  await assert.rejects(api.create(ConfigMap, map("after")), TransportError);
  const { items } = await api.list(ConfigMap);
  assert.deepEqual(
    items.map(({ metadata }) => metadata?.name),
    ["after"],
  );
  assert.deepEqual(
    api.writes.map((write) => write.key.name),
    ["after"],
  );
});

test("a fault that is ended fails no more calls", async () => {
  const { api } = setUp();
  const end = api.faults.breakConnection({}, { times: 100 });
  await assert.rejects(api.list(ConfigMap), TransportError);
  end();
  await api.list(ConfigMap);
});

test("a delayed call is carried out late, or misses its deadline and is not", async () => {
  const { api, clock } = setUp();
  api.faults.delay({ verb: "create" }, 1000, 2);
  const created = api.create(ConfigMap, map("a"));
  await clock.advance(999);
  assert.equal(api.writes.length, 0);
  await clock.advance(1);
  await created;

  const late = assert.rejects(api.create(ConfigMap, map("b"), { deadline: 500 }), { failure: "deadline" });
  await clock.advance(500);
  await late;
  assert.equal(api.writes.length, 1);
  assert.equal(clock.waiting, 0);
});

test("frozen, nothing answers until the thaw, an abort or the deadline", async () => {
  const { api, clock } = setUp();
  const watch = follow(api);
  await settle();
  const thaw = api.faults.freeze();
  const aborter = new AbortController();
  const aborted = assert.rejects(api.list(ConfigMap, { signal: aborter.signal }), /enough/);
  const missed = assert.rejects(api.list(ConfigMap, { deadline: 100 }), { failure: "deadline" });
  const created = api.create(ConfigMap, map("a"));
  await clock.advance(100);
  await missed;
  aborter.abort(new Error("enough"));
  await aborted;
  assert.equal(api.writes.length, 0);
  thaw();
  await created;
  await settle();
  assert.deepEqual(watch.names, ["ADDED a"]);
  watch.stop();
  await watch.ended;
  assert.equal(clock.waiting, 0);
});

test("freezing works with the timers of node:test too", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const api = new FakeApi({ kinds: [{ kind: ConfigMap }] });
    api.faults.freeze();
    const missed = assert.rejects(api.list(ConfigMap, { deadline: 5000 }), { failure: "deadline" });
    await settle();
    mock.timers.tick(5000);
    await missed;
  } finally {
    mock.timers.reset();
  }
});

test("while watches are held a cache falls behind, and catches up without loss", async () => {
  const { api } = setUp();
  const watch = follow(api);
  await settle();
  const release = api.faults.holdWatches({ kind: ConfigMap });
  await api.create(ConfigMap, map("a"));
  await api.delete(ConfigMap, key("a"));
  await settle();
  assert.deepEqual(watch.names, []);
  release();
  await settle();
  assert.deepEqual(watch.names, ["ADDED a", "DELETED a"]);
  watch.stop();
});

test("reads can show the past while writes meet the present", async () => {
  const { api } = setUp();
  const old = await api.create(ConfigMap, map("a", { is: "old" }));
  const end = api.faults.showThePast();
  await api.mergePatch(ConfigMap, key("a"), { data: { is: "new" } });
  await api.create(ConfigMap, map("b"));
  assert.deepEqual((await api.get(ConfigMap, key("a"))).data, { is: "old" });
  const { items, resourceVersion } = await api.list(ConfigMap);
  assert.equal(items.length, 1);
  assert.equal(resourceVersion, old.metadata?.resourceVersion);
  await assert.rejects(api.replace(ConfigMap, old), { reason: "Conflict" });
  await assert.rejects(api.get(ConfigMap, key("b")), { reason: "NotFound" });
  end();
  assert.deepEqual((await api.get(ConfigMap, key("a"))).data, { is: "new" });
});

test("watches can be cut with an error or cleanly, and those of one kind alone", async () => {
  const { api } = setUp();
  const broken = follow(api);
  await settle();
  api.faults.cutWatches(undefined, { kind: Secret });
  await settle();
  assert.equal(api.watching, 1);
  const error = new TransportError("broken", "cut");
  api.faults.cutWatches(error);
  assert.equal(await broken.ended, error);
  const clean = follow(api);
  await settle();
  api.faults.cutWatches();
  assert.equal(await clean.ended, "clean");
  assert.equal(api.watching, 0);
});

test("a forgotten history is Expired for watches, held watches and page tokens", async () => {
  const { api } = setUp();
  for (const name of ["a", "b", "c"]) await api.create(ConfigMap, map(name));
  const page = await api.list(ConfigMap, { limit: 1 });
  const held = follow(api, page.resourceVersion);
  const release = api.faults.holdWatches();
  await api.create(ConfigMap, map("d"));
  api.faults.expireHistory();
  release();
  const expired = { code: 410, reason: "Expired" };
  for (const watch of [held, follow(api, page.resourceVersion)]) {
    const error = await watch.ended;
    assert.ok(error instanceof ApiError);
    assert.deepEqual({ code: error.code, reason: error.reason }, expired);
  }
  await assert.rejects(api.list(ConfigMap, { limit: 1, continue: page.continue ?? "" }), expired);
  assert.equal((await api.list(ConfigMap)).items.length, 4);
});

test("a listener sees every write after it took effect, and can fail its caller", async () => {
  const { api } = setUp();
  const seen: string[] = [];
  const stop = api.onWrite((write, count) => {
    seen.push(`${count} ${write.verb} ${write.key.name}`);
    if (count === 2) throw new Error("no more");
  });
  await api.create(ConfigMap, map("a"));
  await api.mergePatch(ConfigMap, key("a"), { data: {} });
  await assert.rejects(api.delete(ConfigMap, key("a")), /no more/);
  await assert.rejects(api.get(ConfigMap, key("a")), { reason: "NotFound" });
  stop();
  await api.create(ConfigMap, map("b"));
  assert.deepEqual(seen, ["1 create a", "2 delete a"]);
});
