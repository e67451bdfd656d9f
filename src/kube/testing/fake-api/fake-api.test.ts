// The in-memory API server keeps the contract that the real one keeps. Beyond it stands here what only a twin can
// show: its own clock, its log of requests, the edges of its memory, and its size.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Pod } from "../../objects/kinds.ts";
import { SimulatedClock, settle } from "../simulated-clock.ts";
import { contract } from "../contract/contract.ts";
import { contractKinds, Widget } from "../contract/ground.ts";
import { FakeApi } from "./fake-api.ts";

contract("the in-memory API", async () => {
  const api = new FakeApi({ kinds: contractKinds });
  return {
    api,
    namespace: "contract",
    async close() {
      assert.equal(api.watching, 0, "no watch is left open");
    },
  };
});

const namespace = "default";
const key = (name: string): { namespace: string; name: string } => ({ namespace, name });

test("what a caller does to an object that it sent or got does not reach the store", async () => {
  const api = new FakeApi({ kinds: [{ kind: ConfigMap }] });
  const sent = { metadata: key("a"), data: { a: "1" } };
  const made = await api.create(ConfigMap, sent);
  sent.data.a = "2";
  made.data!["a"] = "3";
  const [listed] = (await api.list(ConfigMap)).items;
  listed!.data!["a"] = "4";
  assert.deepEqual((await api.get(ConfigMap, key("a"))).data, { a: "1" });
});

test("an hour of watching passes as fast as the test's clock", async () => {
  const clock = new SimulatedClock();
  const api = new FakeApi({ kinds: [{ kind: ConfigMap }], clock });
  const { signal } = new AbortController();
  const received: string[] = [];
  const watching = api.watch(ConfigMap, { resourceVersion: "0", timeoutSeconds: 3600, signal }, (event) => {
    received.push(event.type);
  });
  await clock.advance(90_000);
  assert.deepEqual(received, ["BOOKMARK"]);
  await api.create(ConfigMap, { metadata: key("a") });
  await clock.advance(40_000);
  assert.deepEqual(received, ["BOOKMARK", "ADDED", "BOOKMARK"]);
  await clock.advance(3_600_000);
  await watching;
  assert.equal(clock.waiting, 0);
});

test("the log tells reads from writes, and writes that changed nothing from those that did", async () => {
  const api = new FakeApi({ kinds: [{ kind: ConfigMap }] });
  const apply = async (data: Record<string, string>): Promise<unknown> =>
    await api.apply(ConfigMap, { metadata: key("a"), data }, { fieldManager: "one" });
  await apply({ a: "1" });
  await apply({ a: "1" });
  await api.list(ConfigMap);
  await assert.rejects(api.get(ConfigMap, key("none")), { reason: "NotFound" });
  assert.deepEqual(
    api.requests.map(({ verb, outcome }) => `${verb} ${outcome}`),
    ["apply changed", "apply answered", "list answered", "get refused"],
  );
  assert.equal(api.writes.length, 1);
  api.forgetRequests();
  assert.equal(api.requests.length, 0);
});

test("history is a window: what has slid out of it is Expired", async () => {
  const api = new FakeApi({ kinds: [{ kind: ConfigMap }], history: 10 });
  const first = await api.create(ConfigMap, { metadata: key("a") });
  for (let n = 0; n < 25; n += 1) await api.mergePatch(ConfigMap, key("a"), { data: { n: String(n) } });
  const { signal } = new AbortController();
  const from = first.metadata?.resourceVersion ?? "";
  const watching = api.watch(ConfigMap, { resourceVersion: from, signal }, () => undefined);
  await assert.rejects(watching, { code: 410, reason: "Expired" });
});

test("a graceful pod that runs stays until its kubelet lets it go; one that never ran goes at once", async () => {
  const api = new FakeApi({ kinds: [{ kind: Pod, graceful: true }] });
  const spec = { containers: [{ name: "c", image: "none.invalid/none:1" }] };
  await api.create(Pod, { metadata: key("waiting"), spec });
  await api.create(Pod, { metadata: key("running"), spec: { ...spec, nodeName: "n0" } });
  await api.delete(Pod, key("waiting"));
  await api.delete(Pod, key("running"));
  await assert.rejects(api.get(Pod, key("waiting")), { reason: "NotFound" });
  const going = await api.get(Pod, key("running"));
  assert.equal(going.metadata?.deletionGracePeriodSeconds, 30);
  await api.delete(Pod, key("running"), { gracePeriodSeconds: 0 });
  await assert.rejects(api.get(Pod, key("running")), { reason: "NotFound" });
});

test("a pod keeps the spec that it was made with, but for its images", async () => {
  const api = new FakeApi({ kinds: [{ kind: Pod }] });
  await api.create(Pod, { metadata: key("a"), spec: { containers: [{ name: "c", image: "none.invalid/none:1" }] } });
  const image = { spec: { containers: [{ name: "c", image: "none.invalid/none:2" }] } };
  assert.equal((await api.mergePatch(Pod, key("a"), image)).spec?.containers[0]?.image, "none.invalid/none:2");
  await assert.rejects(api.mergePatch(Pod, key("a"), { spec: { hostNetwork: true } }), { reason: "Invalid" });
});

test("a thousand owners with three dependents each are made, watched, paged and collected", async () => {
  const api = new FakeApi({ kinds: [{ kind: Widget, status: true }, { kind: ConfigMap }] });
  const aborter = new AbortController();
  let received = 0;
  const watching = api.watch(ConfigMap, { resourceVersion: "0", signal: aborter.signal }, (event) => {
    if (event.type !== "BOOKMARK") received += 1;
  });
  for (let n = 0; n < 1000; n += 1) {
    const owner = await api.create(Widget, { metadata: key(`w${n}`), spec: { size: 3 } });
    const uid = owner.metadata?.uid ?? "";
    const ownerReferences = [{ apiVersion: "contract.test.invalid/v1", kind: "Widget", name: `w${n}`, uid }];
    for (const member of [0, 1, 2]) {
      const metadata = { ...key(`w${n}-${member}`), ownerReferences };
      await api.apply(ConfigMap, { metadata, data: { member: String(member) } }, { fieldManager: "one" });
    }
  }
  let pages = 0;
  let count = 0;
  for (let next: string | undefined = ""; next !== undefined && pages < 100; pages += 1) {
    const page: { items: unknown[]; continue?: string } = await api.list(ConfigMap, { limit: 500, continue: next });
    count += page.items.length;
    next = page.continue;
  }
  assert.deepEqual({ pages, count }, { pages: 6, count: 3000 });
  for (let n = 0; n < 1000; n += 1) await api.delete(Widget, key(`w${n}`));
  await settle();
  assert.equal((await api.list(ConfigMap)).items.length, 0);
  assert.equal(received, 6000);
  aborter.abort(new Error("done"));
  await assert.rejects(watching, /done/);
});
