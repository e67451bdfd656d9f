import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compareVersions, formatVersion, oldestVersion, parseVersion, version } from "./version.ts";

describe("an etcd version", () => {
  test("is read with and without v, and written without", () => {
    assert.equal(formatVersion(version("v3.5.35")), "3.5.35");
    assert.equal(formatVersion(version("3.7.0-rc.0")), "3.7.0-rc.0");
    assert.equal(formatVersion(version("3.4.23+git")), "3.4.23");
  });

  test("is not read from any other text", () => {
    for (const text of ["", "3.6", "latest", "v3.6.x", "3.6.1.2", "3.6.1 2"])
      assert.equal(parseVersion(text), undefined, text);
  });

  test("is older or newer by number, not by letter, and a release is newer than its candidates", () => {
    const inOrder = ["3.2.13", "3.5.9", "3.5.10", "3.6.0-alpha.0", "3.6.0-rc.2", "3.6.0-rc.10", "3.6.0", "3.10.0"];
    const shuffled = inOrder.toReversed().map(version).sort(compareVersions).map(formatVersion);
    assert.deepEqual(shuffled, inOrder);
  });

  test("is the oldest of several", () => {
    assert.equal(formatVersion(oldestVersion(["3.6.1", "3.5.9", "3.5.35"].map(version))!), "3.5.9");
    assert.equal(oldestVersion([]), undefined);
  });
});
