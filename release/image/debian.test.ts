import assert from "node:assert/strict";
import { test } from "node:test";
import { offersIn } from "./debian.ts";
import { gone, libraries, libraryPackages } from "./libraries.ts";

test("what apt-cache shows is read version by version", () => {
  const shown = `Package: libc6
Version: 2.36-9+deb12u14
Description: x
 Version: 1
SHA256: ${"a".repeat(64)}

Package: libc6
Version: 2.36-9+deb12u7
SHA256: ${"b".repeat(64)}

`;
  assert.deepEqual(offersIn(shown), [
    { version: "2.36-9+deb12u14", sha256: "a".repeat(64) },
    { version: "2.36-9+deb12u7", sha256: "b".repeat(64) },
  ]);
  assert.deepEqual(offersIn(""), []);
});

test("every package of the image is pinned, with a hash for each architecture", () => {
  const pinned = new Map(libraryPackages.map((one) => [one.name, one]));
  for (const name of Object.keys(libraries))
    for (const architecture of ["amd64", "arm64"] as const)
      assert.match(pinned.get(name)?.sha256[architecture] ?? "", /^[0-9a-f]{64}$/, `${name} for ${architecture}`);
});

test("a version that Debian dropped says what to do for a new release, and for an old one", () => {
  const says = gone("libc6", "1", "arm64", ["2", "3"]);
  for (const words of ["libc6 1 for arm64", "2, 3", "pin-libraries.ts", "snapshot archive"])
    assert.ok(says.includes(words), words);
});
