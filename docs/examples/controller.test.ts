import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { findCondition } from "../../src/kube/objects/conditions.ts";
import { ConfigMap, Event, Lease } from "../../src/kube/objects/kinds.ts";
import { silent } from "../../src/kube/process/log.ts";
import { FakeApi } from "../../src/kube/testing/fake-api/fake-api.ts";
import { eventually } from "../../src/transport/testing/eventually.ts";
import { Greeting, runGreetings } from "./controller.ts";

const key = { namespace: "n", name: "hello" };

function start() {
  const api = new FakeApi({
    kinds: [{ kind: Greeting, status: true }, { kind: ConfigMap }, { kind: Event }, { kind: Lease }],
  });
  const end = new AbortController();
  const running = runGreetings(api, end.signal, silent, "0");
  const stop = async (): Promise<void> => {
    end.abort();
    await running;
  };
  const writes = (kind: string) => api.writes.filter((write) => write.kind === kind);
  const untilWritten = (kind: string, times: number) =>
    eventually(
      `${kind} written ${times} times`,
      () => writes(kind).length === times,
      () => api.writes,
    );
  return { api, stop, writes, untilWritten };
}

const ready = (greeting: Greeting) => findCondition(greeting.status?.conditions, "Ready");

test("a Greeting becomes a ConfigMap, its status and an Event, and then nothing is written any more", async () => {
  const { api, stop, writes, untilWritten } = start();
  await api.create(Greeting, { metadata: { ...key }, spec: { text: "hi" } });
  await untilWritten("Greeting", 2);
  await untilWritten("Event", 1);
  const configMap = await api.get(ConfigMap, key);
  assert.equal(configMap.data?.["text"], "hi");
  assert.equal(configMap.metadata?.ownerReferences?.[0]?.kind, "Greeting");
  const greeting = await api.get(Greeting, key);
  assert.deepEqual([ready(greeting)?.status, ready(greeting)?.observedGeneration], ["True", 1]);
  assert.equal((await api.get(Lease, { namespace: "default", name: "greetings" })).spec?.leaseTransitions, 0);

  await api.mergePatch(Greeting, key, { spec: { text: "bye" } });
  await untilWritten("Greeting", 4);
  assert.equal((await api.get(ConfigMap, key)).data?.["text"], "bye");
  await api.delete(ConfigMap, key);
  await untilWritten("ConfigMap", 4);
  // One reconcile for the made, one for the changed, one for the healed: no others wrote.
  assert.deepEqual([writes("Greeting").length, writes("ConfigMap").length], [4, 4]);

  await stop();
  assert.equal((await api.get(Lease, { namespace: "default", name: "greetings" })).spec?.holderIdentity ?? "", "");
});

test("a ConfigMap that belongs to somebody else is left alone, and the status says so", async () => {
  const { api, stop, untilWritten } = start();
  await api.create(ConfigMap, { metadata: { ...key }, data: { text: "mine" } });
  await api.create(Greeting, { metadata: { ...key }, spec: { text: "hi" } });
  await untilWritten("Greeting", 2);
  assert.equal(ready(await api.get(Greeting, key))?.reason, "NameTaken");
  assert.equal((await api.get(ConfigMap, key)).data?.["text"], "mine");
  await stop();
});

test("a Greeting that is deleted takes its ConfigMap with it", async () => {
  const { api, stop, untilWritten } = start();
  await api.create(Greeting, { metadata: { ...key }, spec: { text: "hi" } });
  await untilWritten("Greeting", 2);
  await api.delete(Greeting, key);
  const gone = async () => (await api.list(ConfigMap)).items.length === 0;
  for (let reads = 0; !(await gone()); reads += 1) assert.ok(reads < 1000, "the ConfigMap is still there");
  await stop();
});

test("the documentation shows the example as it is", () => {
  const read = (file: string): string => readFileSync(new URL(file, import.meta.url), "utf8");
  const shown = /```ts\n(\/\/ A complete controller[\s\S]*?)```/.exec(read("../controller-runtime.md"))?.[1];
  const code = read("controller.ts");
  assert.equal(shown, code);
  assert.ok(code.trimEnd().split("\n").length < 80, "an example that long is no example");
});
