// How an operator of all namespaces takes up what nobody manages, beside an operator of the namespace that may be there,
// come, or come back at any moment.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ApiError } from "../../kube/client/errors.ts";
import { Lease, Pod } from "../../kube/objects/kinds.ts";
import { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { isInScope, type Scope, scopeAnnotation } from "../../api/scope.ts";
import { fakeKinds } from "../../api/testing/fake-kinds.ts";
import { heldForMs, heldScope, ignoredForMs, untouchedForMs } from "./decide.ts";
import { Unclaimed } from "./unclaimed.ts";

const key = { namespace: "team", name: "example" };

class World {
  time = Date.parse("2026-11-17T12:00:00Z");
  readonly api = new FakeApi({
    kinds: [...fakeKinds, { kind: Pod }, { kind: Lease }],
    date: () => new Date(this.time),
  });
  readonly events: string[] = [];
  readonly unclaimed: Unclaimed<EtcdCluster>;

  constructor(scope: Scope["t"] = "clusterwide") {
    const events = {
      record: (_: unknown, __: unknown, event: { reason: string }) => void this.events.push(event.reason),
    };
    const podsOf = (name: string): string => `app=etcd,etcd_cluster=${name}`;
    const now = (): number => this.time;
    this.unclaimed = new Unclaimed({ kind: EtcdCluster, scope, lease: "etcd-operator", podsOf, events, now });
  }

  async make(annotations?: Record<string, string>): Promise<void> {
    const metadata = { ...key, ...(annotations && { annotations }) };
    await this.api.create(EtcdCluster, { metadata, spec: { size: 3 } });
  }

  get = (): Promise<EtcdCluster> => this.api.get(EtcdCluster, key);
  scope = async (): Promise<string | undefined> => (await this.get()).metadata?.annotations?.[scopeAnnotation];
  touch = (status: object = { phase: "Creating" }): Promise<EtcdCluster> =>
    this.api.mergePatch(EtcdCluster, key, { status }, { subresource: "status" });

  /** Reconciles as a controller does: at once after a change, and when it was asked for. */
  async advance(ms: number, cached?: EtcdCluster): Promise<void> {
    const until = this.time + ms;
    const seen = (object: EtcdCluster): string => JSON.stringify(object);
    let [last, due] = ["", 0];
    while (this.time <= until) {
      const object = cached ?? (await this.get());
      if (!isInScope(object, { t: "clusterwide" }) && (seen(object) !== last || this.time >= due)) {
        const next = await this.unclaimed.check(object, { api: this.api, signal: new AbortController().signal });
        [last, due] = [seen(object), next.next === "again" ? this.time + next.afterMs : Number.POSITIVE_INFINITY];
      }
      this.time += 500;
    }
  }
}

describe("an operator of all namespaces", () => {
  test("takes a cluster that nobody manages, and says so", async () => {
    const world = new World();
    await world.make();
    await world.advance(untouchedForMs - 1_000);
    assert.equal(await world.scope(), undefined);
    await world.advance(1_500);
    assert.equal(await world.scope(), heldScope);
    await world.advance(heldForMs + 1_000);
    assert.equal(await world.scope(), "clusterwide");
    assert.deepEqual(world.events, ["Taken"]);
  });

  test("leaves one alone that an operator of the namespace has begun with, this program's or etcd-operator 0.9", async () => {
    for (const status of [{ phase: "Creating" }, { observedGeneration: 1 }, { members: {} }]) {
      const world = new World();
      await world.make();
      await world.touch(status);
      await world.advance(60_000);
      assert.equal(await world.scope(), undefined, JSON.stringify(status));
      assert.deepEqual(world.events, []);
    }
  });

  test("leaves one alone whose status was lost, and whose pods are there", async () => {
    const world = new World();
    await world.make();
    const labels = { app: "etcd", etcd_cluster: key.name };
    await world.api.create(Pod, { metadata: { namespace: key.namespace, name: "example-1", labels } });
    await world.advance(60_000);
    assert.equal(await world.scope(), undefined);
  });

  test("takes one that has only what the CRDs give to each", async () => {
    const world = new World();
    await world.make();
    await world.touch({ observedGeneration: -1 });
    await world.advance(untouchedForMs + heldForMs + 3_000);
    assert.equal(await world.scope(), "clusterwide");
  });

  test("gives one back that an operator of the namespace began with while it was held", async () => {
    const world = new World();
    await world.make();
    await world.advance(untouchedForMs + 500);
    assert.equal(await world.scope(), heldScope);
    await world.touch();
    await world.advance(60_000);
    assert.equal(await world.scope(), undefined);
    assert.deepEqual(world.events, []);
  });

  test("gives one back when the Lease of an operator of the namespace appears while it is held", async () => {
    const world = new World();
    await world.make();
    await world.advance(untouchedForMs + 500);
    await world.api.create(Lease, { metadata: { namespace: key.namespace, name: "etcd-operator" } });
    await world.advance(heldForMs);
    assert.equal(await world.scope(), undefined);
  });

  test("leaves one to the operator of a namespace that is down, and says what to do", async () => {
    const world = new World();
    await world.make();
    await world.api.create(Lease, { metadata: { namespace: key.namespace, name: "etcd-operator" } });
    await world.advance(untouchedForMs + 500);
    assert.equal(await world.scope(), undefined);
    assert.deepEqual(new Set(world.events), new Set(["Not Taken"]));
    await world.api.delete(Lease, { namespace: key.namespace, name: "etcd-operator" });
    await world.advance(20_000);
    assert.equal(await world.scope(), "clusterwide");
  });

  test("decides on what is stored: with an old view it takes nothing that somebody touched", async () => {
    const world = new World();
    await world.make();
    const old = await world.get();
    await world.touch();
    await world.advance(60_000, old);
    assert.equal(await world.scope(), undefined);
  });

  test("overwrites nothing that changed after it read", async () => {
    const world = new World();
    await world.make();
    const get = world.api.get.bind(world.api);
    world.api.get = async (kind, at, options) => {
      const read = await get(kind, at, options);
      if (kind.kind === EtcdCluster.kind && world.time > Date.parse("2026-11-17T12:00:05Z")) await world.touch();
      return read;
    };
    await world.advance(untouchedForMs + 1_000);
    world.api.get = get;
    assert.equal(await world.scope(), undefined);
  });

  test("takes nothing where it may not see Leases", async () => {
    const world = new World();
    await world.make();
    const get = world.api.get.bind(world.api);
    world.api.get = async (kind, at, options) => {
      if (kind.kind === Lease.kind) throw new ApiError(403, "Forbidden", "no");
      return get(kind, at, options);
    };
    await world.advance(60_000);
    assert.equal(await world.scope(), undefined);
    assert.equal(world.events[0], "Not Taken");
  });

  test("leaves alone what is annotated for somebody else", async () => {
    const world = new World();
    await world.make({ [scopeAnnotation]: "another" });
    await world.advance(60_000);
    assert.equal(await world.scope(), "another");
  });

  test("says when nobody acts on an edit, and not before somebody had the time to", async () => {
    const world = new World();
    await world.make();
    await world.touch({ phase: "Running", observedGeneration: 1 });
    await world.api.mergePatch(EtcdCluster, key, { spec: { size: 5 } });
    await world.advance(ignoredForMs - 2_000);
    assert.deepEqual(world.events, []);
    await world.advance(4_000);
    assert.equal(world.events[0], "Not Taken");
    assert.equal(await world.scope(), undefined);
  });

  test("says nothing of clusters of etcd-operator 0.9, which writes no generation", async () => {
    const world = new World();
    await world.make();
    await world.touch({ phase: "Running" });
    await world.api.mergePatch(EtcdCluster, key, { spec: { size: 5 } });
    await world.advance(2 * ignoredForMs);
    assert.deepEqual(world.events, []);
  });

  test("goes on where the leader before it stopped, and gives others the time again", async () => {
    const before = new World();
    await before.make();
    await before.advance(untouchedForMs + 500);
    const successor = new World();
    await successor.make({ [scopeAnnotation]: heldScope });
    await successor.advance(heldForMs - 1_000);
    assert.equal(await successor.scope(), heldScope);
    await successor.advance(2_000);
    assert.equal(await successor.scope(), "clusterwide");
  });
});

test("an operator of a namespace takes nothing up, and leaves alone what is held", async () => {
  const world = new World("namespaces");
  await world.make();
  await world.advance(60_000);
  assert.equal(await world.scope(), undefined);
  const held = { metadata: { name: "a", annotations: { [scopeAnnotation]: heldScope } } };
  assert.equal(isInScope(held, { t: "namespaces" }), false);
  assert.equal(isInScope(held, { t: "clusterwide" }), false);
});
