// Which Secrets are watched, by whom, and until when.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { Informer } from "../kube/cache/informer.ts";
import { Secret } from "../kube/objects/kinds.ts";
import { FakeApi } from "../kube/testing/fake-api/fake-api.ts";
import { SimulatedClock } from "../kube/testing/simulated-clock.ts";
import { GivenSecrets } from "./given-secrets.ts";
import { namedSecrets } from "./objects/tls.ts";

const naming = (name: string, peerSecret: string): EtcdCluster => ({
  metadata: { namespace: "n", name },
  spec: { size: 1, TLS: { static: { member: { peerSecret } } } },
});

async function watching(limit = 10) {
  const clock = new SimulatedClock();
  const api = new FakeApi({ kinds: [{ kind: EtcdCluster }, { kind: Secret }], clock });
  const clusters = new Informer({ api, kind: EtcdCluster, clock, observe: () => undefined });
  const given = new GivenSecrets({
    api,
    clock,
    observe: () => undefined,
    clusters: [clusters],
    namedBy: namedSecrets,
    limit,
  });
  const end = new AbortController();
  const ended = Promise.all([clusters.run(end.signal), given.run(end.signal)]);
  const told: string[] = [];
  given.subscribe((key) => told.push(key));
  const stop = async (): Promise<void> => {
    end.abort(new Error("the test ends"));
    await ended;
  };
  await clock.advance(10);
  return { api, clock, given, told, stop };
}

test("a Secret is watched as long as a cluster names it, and its changes bring back exactly those clusters", async () => {
  const { api, clock, given, told, stop } = await watching();
  for (const name of ["a", "b"]) await api.create(EtcdCluster, naming(name, "shared"));
  await api.create(EtcdCluster, naming("c", "own"));
  await clock.advance(100);
  assert.equal(given.size, 2);
  told.length = 0;
  await api.create(Secret, { metadata: { namespace: "n", name: "shared" }, stringData: { x: "1" } });
  await api.create(Secret, { metadata: { namespace: "n", name: "nobody-names-it" } });
  await clock.advance(100);
  assert.deepEqual(told.toSorted(), ["n/a", "n/b"]);
  await api.delete(EtcdCluster, { namespace: "n", name: "a" });
  await api.mergePatch(EtcdCluster, { namespace: "n", name: "c" }, { spec: { TLS: null } });
  await clock.advance(100);
  assert.equal(given.size, 1);
  await api.delete(EtcdCluster, { namespace: "n", name: "b" });
  await clock.advance(100);
  assert.equal(given.size, 0);
  await stop();
});

test("a Secret that is larger than any certificate is not kept, but read when it is needed", async () => {
  const { api, clock, given, told, stop } = await watching();
  await api.create(EtcdCluster, naming("a", "large"));
  for (const [size, isKept] of [
    [10_000, true],
    [700_000, false],
  ] as const) {
    const data = { "peer.crt": "x".repeat(size) };
    told.length = 0;
    await api.apply(
      Secret,
      { metadata: { namespace: "n", name: "large" }, data },
      { fieldManager: "somebody", force: true },
    );
    await clock.advance(100);
    assert.deepEqual(told, ["n/a"]);
    const before = api.requests.filter(({ verb }) => verb === "get").length;
    const { signal } = new AbortController();
    const found = await given.read({ namespace: "n", name: "large" }, api, signal);
    const reads = api.requests.filter(({ verb }) => verb === "get").length - before;
    assert.equal(found?.data?.["peer.crt"]?.length, size);
    assert.equal(reads, isKept ? 0 : 1);
  }
  await stop();
});

test("a cluster that names another Secret is brought back by that one, and by the others that it names still", async () => {
  const { api, clock, given, told, stop } = await watching();
  const naming = (serverSecret: string): object => ({
    TLS: { static: { member: { peerSecret: "peers", serverSecret }, operatorSecret: "operator" } },
  });
  await api.create(EtcdCluster, { metadata: { namespace: "n", name: "a" }, spec: { size: 1, ...naming("old") } });
  await clock.advance(100);
  await api.mergePatch(EtcdCluster, { namespace: "n", name: "a" }, { spec: naming("new") });
  await clock.advance(100);
  assert.equal(given.size, 3);
  for (const [name, wanted] of [
    ["peers", ["n/a"]],
    ["new", ["n/a"]],
    ["old", []],
  ] as const) {
    told.length = 0;
    await api.create(Secret, { metadata: { namespace: "n", name } });
    await clock.advance(100);
    assert.deepEqual(told, wanted, name);
  }
  await stop();
});

test("the Secret of the operator's login is watched like those of certificates", async () => {
  const { api, clock, told, stop } = await watching();
  const spec = { size: 1, auth: { operatorSecret: "login" } };
  await api.create(EtcdCluster, { metadata: { namespace: "n", name: "a" }, spec });
  await clock.advance(100);
  told.length = 0;
  await api.create(Secret, { metadata: { namespace: "n", name: "login" }, stringData: { password: "1" } });
  await clock.advance(100);
  assert.deepEqual(told, ["n/a"]);
  await stop();
});

test("only Secrets that are named are ever asked for, and what is beyond the limit is read when it is needed", async () => {
  const { api, clock, given, stop } = await watching(1);
  await api.create(EtcdCluster, naming("a", "first"));
  await clock.advance(100);
  await api.create(EtcdCluster, naming("b", "second"));
  await clock.advance(100);
  for (const name of ["first", "second"]) await api.create(Secret, { metadata: { namespace: "n", name } });
  await clock.advance(100);
  assert.equal(given.size, 1);
  const { signal } = new AbortController();
  const names = [];
  for (const name of ["first", "second", "third"])
    names.push((await given.read({ namespace: "n", name }, api, signal))?.metadata?.name);
  assert.deepEqual(names, ["first", "second", undefined]);
  const lists = api.requests.filter(({ kind, verb }) => kind === "Secret" && (verb === "list" || verb === "watch"));
  assert.ok(lists.length > 0);
  await stop();
  assert.equal(given.size, 0);
});
