import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { freshLogBefore, minors, pathBetween, stepBetween, warningOn, waypoints, whyBad } from "./steps.ts";
import { compareVersions, type EtcdVersion, formatVersion, isAtLeast, sameMinor, version } from "./version.ts";

describe("a step to another version", () => {
  const rows = [
    ["3.5.21", "3.5.21", "same"],
    ["3.5.21", "3.5.35", "patch"],
    ["3.5.35", "3.5.21", "patch"],
    ["3.4.23", "3.5.35", "upgrade"],
    ["3.4.23", "3.5.21", "upgrade"],
    ["3.3.27", "3.4.23", "upgrade"],
    ["3.2.13", "3.3.27", "upgrade"],
    ["3.2.32", "3.2.13", "patch"],
    ["3.5.32", "3.6.16", "upgrade"],
    ["3.5.31", "3.6.16", "patchTooOld"],
    ["3.6.11", "3.7.3", "upgrade"],
    ["3.6.10", "3.7.3", "patchTooOld"],
    ["3.7.3", "3.8.0", "upgrade"],
    ["3.5.35", "3.7.3", "skipsMinor"],
    ["3.7.3", "3.6.16", "downgrade"],
    ["3.6.16", "3.5.35", "downgrade"],
    ["3.6.16", "3.5.21", "downgrade"],
    ["3.7.3", "3.5.35", "skipsMinor"],
    ["3.5.35", "3.4.23", "downgradeUnsupported"],
    ["3.6.16", "3.4.23", "downgradeUnsupported"],
    ["3.4.23", "3.2.13", "downgradeUnsupported"],
    ["3.5.35", "3.4.8", "downgradeUnsupported"],
    ["3.6.16", "4.0.0", "otherMajor"],
    ["3.5.35", "3.5.2", "badPatch"],
    ["3.4.23", "3.5.3", "badPatch"],
    ["3.6.16", "3.5.4", "badPatch"],
    ["3.4.23", "3.5.5", "badPatch"],
    ["3.4.23", "3.5.6", "upgrade"],
    ["3.4.23", "3.4.8", "badPatch"],
    ["3.3.27", "3.4.21", "badPatch"],
    ["3.3.27", "3.4.22", "upgrade"],
    ["3.2.13", "3.3.21", "badPatch"],
    ["3.2.13", "3.3.20", "upgrade"],
    ["3.5.35", "3.6.4", "badPatch"],
    ["3.5.35", "3.6.0-rc.4", "badPatch"],
    ["3.5.35", "3.6.5", "upgrade"],
    ["3.7.3", "3.6.4", "badPatch"],
    ["3.4.23", "3.6.4", "badPatch"],
    ["3.5.3", "3.5.3", "same"],
    ["3.5.3", "3.5.35", "patch"],
    ["3.6.4", "3.5.35", "downgrade"],
  ] as const;
  for (const [from, to, wanted] of rows)
    test(`from ${from} to ${to} is ${wanted}`, () => {
      const step = stepBetween(version(from), version(to));
      assert.equal(step.t === "refused" ? step.because : step.t, wanted);
      if (step.t === "refused") assert.match(step.advice, /^\S.*\.$/);
    });

  const advised = [
    ["3.5.21", "3.7.3", /one after another: 3\.5\.35, 3\.6\.16, 3\.7\.3\.$/],
    ["3.5.21", "3.6.16", /at least 3\.5\.32: .*: 3\.5\.35, 3\.6\.16\.$/],
    ["3.7.3", "3.9.0", /minor next to 3\.7 first\.$/],
    ["3.5.35", "3.6.4", /Set 3\.6\.16 instead\.$/],
    ["3.5.35", "3.4.23", /Restore a backup into a new cluster of 3\.4\.23\.$/],
  ] as const;
  for (const [from, to, words] of advised)
    test(`from ${from} to ${to} is refused with what to do`, () => {
      const step = stepBetween(version(from), version(to));
      assert.match(step.t === "refused" ? step.advice : step.t, words);
    });
});

describe("a path to another version", () => {
  const rows: readonly (readonly [string, string, readonly string[] | string])[] = [
    ["3.6.16", "3.6.16", []],
    ["3.6.16", "3.7.3", ["3.7.3"]],
    ["3.5.21", "3.6.16", ["3.5.35", "3.6.16"]],
    ["3.5.35", "3.7.3", ["3.6.16", "3.7.3"]],
    ["3.5.21", "3.7.3", ["3.5.35", "3.6.16", "3.7.3"]],
    ["3.6.2", "3.7.3", ["3.6.16", "3.7.3"]],
    ["3.2.13", "3.7.3", ["3.3.27", "3.4.45", "3.5.35", "3.6.16", "3.7.3"]],
    ["3.7.3", "3.5.35", ["3.6.16", "3.5.35"]],
    ["3.7.3", "3.8.1", ["3.8.1"]],
    ["3.7.3", "3.9.0", "skipsMinor"],
    ["3.7.3", "3.4.23", "downgradeUnsupported"],
    ["3.4.23", "3.6.4", "badPatch"],
    ["3.6.16", "4.0.0", "otherMajor"],
  ];
  for (const [from, to, wanted] of rows)
    test(`from ${from} to ${to} is ${typeof wanted === "string" ? wanted : wanted.join(", ") || "empty"}`, () => {
      const path = pathBetween(version(from), version(to));
      assert.deepEqual(path.t === "path" ? path.versions.map(formatVersion) : path.because, wanted);
    });

  const anyVersion = fc
    .record({ minor: fc.integer({ min: 2, max: 9 }), patch: fc.integer({ min: 0, max: 50 }) })
    .map(({ minor, patch }): EtcdVersion => ({ major: 3, minor, patch, preRelease: "" }));

  test("consists of steps that are allowed, ends in the version that is wanted, and is refused where a step in it would be", () => {
    fc.assert(
      fc.property(anyVersion, anyVersion, (from, to) => {
        const path = pathBetween(from, to);
        if (path.t === "refused") {
          const step = stepBetween(from, to);
          assert.equal(step.t === "refused" && step.because, path.because);
          return;
        }
        let at = from;
        for (const next of path.versions) {
          const { t } = stepBetween(at, next);
          assert.ok(t === "patch" || t === "upgrade" || t === "downgrade", `${formatVersion(at)}: ${t}`);
          at = next;
        }
        assert.equal(compareVersions(at, to), 0);
        assert.ok(path.versions.length <= 2 * Math.abs(to.minor - from.minor) + 1);
      }),
    );
  });
});

describe("the table of minors", () => {
  test("has no gap, and its newest patches may be moved to and left", () => {
    for (const [at, { newest, leaveFrom }] of minors.entries()) {
      assert.equal(newest.minor, (minors[0]?.newest.minor ?? 0) + at);
      assert.equal(whyBad(newest), undefined);
      if (leaveFrom) assert.ok(sameMinor(leaveFrom.patch, newest) && isAtLeast(newest, leaveFrom.patch));
    }
    assert.deepEqual(waypoints.map(formatVersion), ["3.2.32", "3.3.27", "3.4.45", "3.5.35", "3.6.16", "3.7.3"]);
  });
});

test("a version with a known bug is warned about, with the one to set", () => {
  const sentence =
    "etcd 3.5.2 has a known bug: a crash under load can leave members with different data. Set spec.version to 3.5.35.";
  assert.equal(warningOn(version("3.5.2")), sentence);
  for (const text of ["3.2.13", "3.5.35", "3.6.5", "3.9.0"]) assert.equal(warningOn(version(text)), undefined, text);
});

describe("a raft log", () => {
  test("must be fresh before 3.7, where a member comes from 3.6", () => {
    assert.equal(freshLogBefore(version("3.7.3"))?.minor, "3.6");
    assert.equal(freshLogBefore(version("3.6.16")), undefined);
  });
});
