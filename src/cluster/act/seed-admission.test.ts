import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fitsAfter } from "./seed-admission.ts";

const refused = (requested: string, used: string, limited: string): string =>
  `pods "demo-seed" is forbidden: exceeded quota: compute, requested: ${requested}, used: ${used}, limited: ${limited}`;

describe("a quota that refuses the first member while the others run", () => {
  const resources = { requests: { cpu: "500m", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } };
  const three = [{ resources }, { resources }, { resources }];
  const table: [what: string, message: string, fits: boolean][] = [
    ["has room for it when they are gone", refused("pods=1", "pods=3", "pods=3"), true],
    ["counts pods under their other name", refused("count/pods=1", "count/pods=3", "count/pods=3"), true],
    ["has room for its requests", refused("requests.cpu=500m", "requests.cpu=1500m", "requests.cpu=1500m"), true],
    [
      "has room for requests under their short names",
      refused("cpu=500m,memory=1Gi", "cpu=1500m,memory=3Gi", "cpu=1500m,memory=3Gi"),
      true,
    ],
    ["has room for its limits", refused("limits.cpu=3", "limits.cpu=3", "limits.cpu=3"), true],
    ["has no room for more than they had", refused("limits.cpu=3100m", "limits.cpu=3", "limits.cpu=3"), false],
    [
      "has no room in one of two",
      refused("pods=1,requests.memory=4Gi", "pods=3,requests.memory=3Gi", "pods=3,requests.memory=3Gi"),
      false,
    ],
    ["is used up by others", refused("requests.memory=2Gi", "requests.memory=9Gi", "requests.memory=7Gi"), false],
    [
      "counts what they do not have",
      refused("requests.storage=1Gi", "requests.storage=3Gi", "requests.storage=3Gi"),
      false,
    ],
    ["cannot be read", refused("pods=many", "pods=3", "pods=3"), false],
    ["is no quota", 'pods "demo-seed" is forbidden: violates PodSecurity "restricted:latest"', false],
    ["is said in other words", 'pods "demo-seed" is forbidden: exceeded quota: pods', false],
  ];
  for (const [what, message, fits] of table) test(what, () => assert.equal(fitsAfter(message, three), fits));

  test("has room for all first members, or not for all of them", () => {
    const message = refused("limits.cpu=2", "limits.cpu=3", "limits.cpu=4");
    assert.deepEqual(
      [1, 2, 3].map((count) => fitsAfter(message, three, count)),
      [true, true, false],
    );
  });

  test("frees only what is known to be used", () => {
    assert.equal(fitsAfter(refused("limits.cpu=1", "limits.cpu=3", "limits.cpu=3"), [{ resources: undefined }]), false);
    assert.equal(fitsAfter(refused("pods=1", "pods=3", "pods=3"), []), false);
    // A limit without a request is both.
    const limits = { limits: { memory: "1Gi" } };
    assert.equal(
      fitsAfter(refused("requests.memory=1Gi", "requests.memory=1Gi", "requests.memory=1Gi"), [{ resources: limits }]),
      true,
    );
  });
});
