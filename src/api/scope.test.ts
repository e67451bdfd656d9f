// Which operator manages which object.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isInScope, scopeAnnotation } from "./scope.ts";

test("an operator of the whole cluster manages what is annotated for it, and one of a namespace the rest", () => {
  const managed = (annotations: Record<string, string>) => {
    const object = { metadata: { name: "demo", annotations } };
    return [isInScope(object, { t: "clusterwide" }), isInScope(object, { t: "namespaces" })];
  };
  assert.deepEqual(managed({}), [false, true]);
  assert.deepEqual(managed({ [scopeAnnotation]: "clusterwide" }), [true, false]);
  assert.deepEqual(managed({ [scopeAnnotation]: "another" }), [false, false]);
});
