import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewEvent } from "./event-object.ts";
import { EventRecorder, type EventOutcome } from "./events.ts";
import { ConfigMap, Event, Node } from "./kinds.ts";
import { SimulatedClock } from "../testing/simulated-clock.ts";
import { FakeApi } from "../testing/fake-api/fake-api.ts";

const reporter = { controller: "etcd-operator", instance: "etcd-operator-7d4b9-x2x" };
const config: ConfigMap = { metadata: { namespace: "n", name: "a", uid: "u1" } };
const happening: NewEvent = { type: "Normal", reason: "MemberAdded", action: "AddMember", note: "Added a-0001." };
const minute = 60_000;

function world() {
  const clock = new SimulatedClock();
  const api = new FakeApi({ kinds: [{ kind: Event }], clock });
  const outcomes: EventOutcome[] = [];
  const recorder = new EventRecorder({ api, reporter, clock, observe: (outcome) => outcomes.push(outcome) });
  const events = async () => (await api.list(Event)).items;
  return { clock, api, recorder, outcomes, events };
}

test("an event says what happened to which object, by whom, and is accepted by the server", async () => {
  const { clock, recorder, events } = world();
  recorder.record(ConfigMap, config, happening);
  await clock.advance(0);
  const [event] = await events();
  const { metadata, eventTime, series, ...said } = event!;
  assert.equal(metadata?.namespace, "n");
  assert.match(metadata.name!, /^a\.[0-9a-f]{16}$/);
  assert.match(eventTime, /\.\d{6}Z$/);
  assert.equal(series, undefined);
  assert.deepEqual(said.regarding, { apiVersion: "v1", kind: "ConfigMap", namespace: "n", name: "a", uid: "u1" });
  assert.deepEqual(
    [said.type, said.reason, said.action, said.note, said.reportingController, said.reportingInstance],
    ["Normal", "MemberAdded", "AddMember", "Added a-0001.", "etcd-operator", "etcd-operator-7d4b9-x2x"],
  );
});

test("events of cluster-scoped objects go to the default namespace", async () => {
  const { clock, recorder, events } = world();
  recorder.record(Node, { metadata: { name: "node-1", uid: "u9" } }, happening);
  await clock.advance(0);
  const [event] = await events();
  assert.equal(event?.metadata?.namespace, "default");
  assert.equal(event?.regarding?.namespace, undefined);
});

test("texts are cut to the server's limits, counted in bytes and never inside a character", async () => {
  const { clock, recorder, events } = world();
  recorder.record(ConfigMap, config, { ...happening, note: `x${"é".repeat(2000)}`, reason: "R".repeat(300) });
  await clock.advance(0);
  const [event] = await events();
  assert.ok(Buffer.byteLength(event!.note!) <= 1024 && Buffer.byteLength(event!.note!) > 1000);
  assert.match(event!.note!, /^xé+…$/);
  assert.ok(Buffer.byteLength(event!.reason!) <= 128);
});

test("names that are no DNS names, or too long, still give one", async () => {
  const { clock, recorder, events } = world();
  for (const name of ["System:Node_1", `${"a".repeat(199)}-.b`, "---"]) {
    recorder.record(ConfigMap, { metadata: { namespace: "n", name, uid: name } }, happening);
  }
  await clock.advance(0);
  const names = (await events()).map((event) => event.metadata!.name!);
  assert.equal(names.length, 3);
  for (const name of names)
    assert.match(name, /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
});

test("the same thing again counts up a series that is sent at most once a minute", async () => {
  const { clock, api, recorder, events } = world();
  for (let i = 0; i < 120; i += 1) {
    recorder.record(ConfigMap, config, happening);
    await clock.advance(1000);
  }
  await clock.advance(2 * minute);
  const all = await events();
  assert.equal(all.length, 1);
  assert.equal(all[0]!.series?.count, 120);
  assert.match(all[0]!.series.lastObservedTime, /\.\d{6}Z$/);
  const patches = api.writes.filter((call) => call.verb === "mergePatch").length;
  assert.ok(patches >= 1 && patches <= 3, `${patches} patches`);
  assert.equal(clock.waiting, 0, "a timer was left behind");
});

test("things that differ in object, reason or note are different events", async () => {
  const { clock, recorder, events } = world();
  recorder.record(ConfigMap, config, happening);
  recorder.record(ConfigMap, config, { ...happening, note: "Added a-0002." });
  recorder.record(ConfigMap, config, { ...happening, reason: "Other" });
  recorder.record(ConfigMap, { metadata: { ...config.metadata, uid: "u2" } }, happening);
  await clock.advance(0);
  assert.equal((await events()).length, 4);
});

test("what has not happened for six minutes is a new event", async () => {
  const { clock, recorder, events } = world();
  recorder.record(ConfigMap, config, happening);
  await clock.advance(6 * minute);
  recorder.record(ConfigMap, config, happening);
  await clock.advance(0);
  assert.equal((await events()).length, 2);
});

test("a series whose event the server has forgotten goes on in a new one", async () => {
  const { clock, api, recorder, events } = world();
  recorder.record(ConfigMap, config, happening);
  await clock.advance(0);
  const { namespace = "", name = "" } = (await events())[0]!.metadata!;
  await api.delete(Event, { namespace, name });
  recorder.record(ConfigMap, config, happening);
  await clock.advance(2 * minute);
  assert.deepEqual(
    (await events()).map((event) => event.series?.count),
    [2],
  );
});

test("a noisy object is cut off, others are not, and after ten seconds it may say one thing more", async () => {
  const { clock, recorder, outcomes, events } = world();
  const say = (uid: string, note: string): void =>
    recorder.record(ConfigMap, { metadata: { namespace: "n", name: uid, uid } }, { ...happening, note });
  for (let i = 0; i < 200; i += 1) say("noisy", `${i}`);
  say("quiet", "hello");
  await clock.advance(1000);
  const from = async (name: string) => (await events()).filter((event) => event.regarding?.name === name).length;
  assert.deepEqual([await from("noisy"), await from("quiet")], [50, 1]);
  assert.equal(outcomes.filter((outcome) => outcome.type === "dropped").length, 150);
  await clock.advance(10_000);
  say("noisy", "one more");
  say("noisy", "too much");
  await clock.advance(1000);
  assert.equal(await from("noisy"), 51);
});

test("a cluster that was scaled up and down all day can still warn", async () => {
  const { clock, recorder, events } = world();
  for (let i = 0; i < 200; i += 1) recorder.record(ConfigMap, config, { ...happening, note: `Added a-${i}.` });
  recorder.record(ConfigMap, config, { ...happening, type: "Warning", reason: "QuorumLost" });
  await clock.advance(1000);
  assert.ok((await events()).some((event) => event.reason === "QuorumLost"));
});

test("recording neither waits nor fails nor grows while the server is gone, and goes on afterwards", async () => {
  const { clock, api, recorder, outcomes, events } = world();
  const thaw = api.faults.freeze();
  for (let i = 0; i < 3000; i += 1) {
    recorder.record(ConfigMap, { metadata: { namespace: "n", name: `c${i}`, uid: `u${i}` } }, happening);
  }
  await clock.advance(0);
  assert.equal(outcomes.filter((o) => o.type === "dropped" && o.because === "backlog").length, 3000 - 256);
  await clock.advance(20_000);
  assert.equal(outcomes.filter((o) => o.type === "failed").length, 2);
  thaw();
  await clock.advance(1000);
  assert.equal((await events()).length, 254);
  recorder.record(ConfigMap, { metadata: { ...config.metadata, uid: "late" } }, happening);
  await clock.advance(0);
  assert.equal((await events()).length, 255);
});

test("a flush sends what waits for its minute, and waits no longer than it may", async () => {
  const { clock, api, recorder, events } = world();
  recorder.record(ConfigMap, config, happening);
  await clock.advance(0);
  recorder.record(ConfigMap, config, happening);
  await recorder.flush(1000);
  assert.equal((await events())[0]!.series?.count, 2);
  api.faults.freeze({ verb: "mergePatch" });
  recorder.record(ConfigMap, config, happening);
  const flushed = recorder.flush(1000).then(() => "over");
  await clock.advance(1000);
  assert.equal(await flushed, "over");
});

test("a note is one line without what a terminal obeys", async () => {
  const { clock, recorder, events } = world();
  recorder.record(ConfigMap, config, { ...happening, note: "The pod said:\n\u001B]52;c;cm0=\u0007 \u009B2J\u202E" });
  await clock.advance(0);
  const [event] = await events();
  assert.equal(event?.note, "The pod said: �]52;c;cm0=� �2J�");
});
