import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kind, KubeObject } from "./objects.ts";
import { controllerOf, isControlledBy, ownerReference } from "./owners.ts";

const widgets: Kind<KubeObject> = {
  group: "test.invalid",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};
const owner: KubeObject = { metadata: { name: "a", namespace: "n", uid: "u1" } };

test("a controller reference blocks its owner's foreground deletion, a dependency does not", () => {
  const plain = { apiVersion: "test.invalid/v1", kind: "Widget", name: "a", uid: "u1" };
  assert.deepEqual(ownerReference(widgets, owner), { ...plain, controller: true, blockOwnerDeletion: true });
  assert.deepEqual(ownerReference(widgets, owner, "dependency"), plain);
});

test("what was never on the server cannot own anything", () => {
  assert.throws(() => ownerReference(widgets, { metadata: { name: "a" } }), TypeError);
});

test("an owner recreated under the same name does not own what the old one left", () => {
  const child: KubeObject = { metadata: { name: "c", ownerReferences: [ownerReference(widgets, owner)] } };
  assert.equal(isControlledBy(child, owner), true);
  assert.equal(isControlledBy(child, { metadata: { name: "a", namespace: "n", uid: "u2" } }), false);
  assert.equal(isControlledBy(child, { metadata: { name: "a" } }), false);
  assert.equal(isControlledBy({ metadata: {} }, { metadata: {} }), false);
});

test("a mere dependency is not the controller", () => {
  const child: KubeObject = { metadata: { ownerReferences: [ownerReference(widgets, owner, "dependency")] } };
  assert.equal(controllerOf(child), undefined);
  assert.equal(isControlledBy(child, owner), false);
});
