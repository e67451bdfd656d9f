import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceRequirements } from "kubernetes-types/core/v1.js";
import { resized } from "./resources.ts";

const of = (limits: Record<string, string>, requests: Record<string, string> = {}): ResourceRequirements => ({
  limits,
  requests,
});

test("more memory is given to a pod that is there", () => {
  assert.deepEqual(resized(of({ memory: "8Mi" }, { memory: "8Mi" }), { limits: { memory: "256Mi" } }), {
    limits: { memory: "256Mi" },
    requests: { memory: "256Mi" },
  });
});

test("a request is changed on its own", () => {
  const after = resized(of({ cpu: "1" }, { cpu: "500m" }), { limits: { cpu: "1" }, requests: { cpu: "250m" } });
  assert.deepEqual(after, { limits: { cpu: "1" }, requests: { cpu: "250m" } });
});

const same: [string, ResourceRequirements | undefined, ResourceRequirements | undefined][] = [
  ["nothing was ever asked for", undefined, undefined],
  ["they are the same", of({ memory: "1Gi" }, { memory: "1Gi" }), { limits: { memory: "1Gi" } }],
  ["they are the same in another notation", of({ cpu: "700m" }, { cpu: "700m" }), { limits: { cpu: "0.7" } }],
  ["what is there is a default of the namespace", of({ memory: "1Gi" }, { memory: "1Gi" }), {}],
  ["a limit is taken away, which Kubernetes does not do", of({ memory: "1Gi" }, { memory: "1Gi" }), undefined],
  [
    "they are the same but for the last digit of a number",
    of({ memory: "0.7Gi" }, { memory: "0.7Gi" }),
    { limits: { memory: "751619276800m" } },
  ],
  ["they are nothing", of({ cpu: "0" }, { cpu: "0" }), { limits: { cpu: "0m" } }],
  ["a pod that asked for nothing would be of another class", undefined, { limits: { memory: "1Gi" } }],
  ["a pod that asked for nothing would be of another class by a request", undefined, { requests: { memory: "1Gi" } }],
  [
    "a guaranteed pod would be of another class",
    of({ cpu: "1", memory: "1Gi" }, { cpu: "1", memory: "1Gi" }),
    { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "1", memory: "1Gi" } },
  ],
  ["only something else differs", of({ memory: "1Gi" }, { memory: "1Gi" }), { limits: { memory: "1Gi", pens: "3" } }],
];
for (const [what, there, wanted] of same)
  test(`nothing is changed in place when ${what}`, () => assert.equal(resized(there, wanted), undefined));

test("a guaranteed pod that stays one is changed", () => {
  const there = of({ cpu: "1", memory: "1Gi" }, { cpu: "1", memory: "1Gi" });
  const after = resized(there, { limits: { cpu: "2", memory: "1Gi" } });
  assert.deepEqual(after?.limits, { cpu: "2", memory: "1Gi" });
  assert.deepEqual(after?.requests, { cpu: "2", memory: "1Gi" });
});
