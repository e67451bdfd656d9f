import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { KubeObject } from "../objects/objects.ts";
import { Store } from "./store.ts";

interface Box extends KubeObject {
  node?: string;
}

const name = fc.constantFrom("a", "b", "c", "d");
const box = fc.record({
  namespace: fc.constantFrom("x", "y"),
  name,
  owners: fc.uniqueArray(fc.constantFrom("o1", "o2", "o3"), { maxLength: 2 }),
  app: fc.option(fc.constantFrom("etcd", "web"), { nil: undefined }),
  node: fc.option(fc.constantFrom("n1", "n2"), { nil: undefined }),
});

function build(made: { namespace: string; name: string; owners: string[]; app?: string; node?: string }): Box {
  const ownerReferences = made.owners.map((uid) => ({ apiVersion: "v1", kind: "Owner", name: uid, uid }));
  const labels: Record<string, string> = made.app === undefined ? {} : { app: made.app };
  const metadata = { namespace: made.namespace, name: made.name, ownerReferences, labels };
  return made.node === undefined ? { metadata } : { metadata, node: made.node };
}

const byNode = (object: Box): string[] => (object.node === undefined ? [] : [object.node]);

function sameObjects(found: Box[], expected: Box[], question: string): void {
  assert.equal(found.length, expected.length, question);
  assert.deepEqual(new Set(found), new Set(expected), question);
}

function askEverything(store: Store<Box>, all: Box[]): void {
  for (const value of ["o1", "o2", "o3"]) {
    const owned = all.filter((object) => object.metadata?.ownerReferences?.some(({ uid }) => uid === value));
    sameObjects(store.ownedBy(value), owned, `owner ${value}`);
  }
  for (const value of ["etcd", "web"]) {
    sameObjects(
      store.withLabel("app", value),
      all.filter((object) => object.metadata?.labels?.["app"] === value),
      `label ${value}`,
    );
  }
  for (const value of ["n1", "n2"]) {
    sameObjects(
      store.byIndex("node", value),
      all.filter((object) => object.node === value),
      `node ${value}`,
    );
  }
}

test("after any series of operations every index equals a search through all objects", () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("put" as const), box }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), box }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("ask" as const) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const store = new Store<Box>({ indexes: { node: byNode } });
      const model = new Map<string, Box>();
      for (const step of steps) {
        // Asking builds the indexes, so they are built at every possible moment and kept up from there.
        if (step.do === "ask") askEverything(store, [...model.values()]);
        else {
          const object = build(step.box as Parameters<typeof build>[0]);
          const key = `${step.box.namespace}/${step.box.name}`;
          const old = step.do === "put" ? store.put(object) : store.remove(step.box);
          assert.equal(old, model.get(key));
          if (step.do === "put") model.set(key, object);
          else model.delete(key);
        }
      }
      assert.equal(store.size, model.size);
      askEverything(store, [...model.values()]);
    }),
  );
});

test("an object that an index function cannot digest is reported, stored, and merely absent from that index", () => {
  const errors: unknown[] = [];
  const store = new Store<Box>({
    indexes: { node: (object) => [object.node!.toUpperCase()] },
    onError: (error) => errors.push(error),
  });
  assert.deepEqual(store.byIndex("node", "N1"), []);
  store.put({ metadata: { name: "good" }, node: "n1" });
  store.put({ metadata: { name: "bad" } });
  assert.equal(errors.length, 1);
  assert.equal(store.size, 2);
  assert.deepEqual(
    store.byIndex("node", "N1").map((object) => object.metadata?.name),
    ["good"],
  );
});

test("asking for an index that nobody defined is an error", () => {
  assert.throws(() => new Store().byIndex("colour", "red"), /no index "colour"/);
});
