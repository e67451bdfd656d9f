import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { wantedOf } from "./options.ts";

const asks = (...words: string[]): unknown => wantedOf(words);

describe("what a release is asked to be", () => {
  for (const version of ["0.2.0", "1.0.0-rc.1", "10.20.30"])
    test(`${version} is a version`, () => {
      assert.deepEqual(asks(`--version=${version}`), {
        version,
        image: "etcd-operator.invalid/etcd-operator",
        folder: "dist/release",
        uncommitted: false,
      });
    });

  for (const version of ["v0.2.0", "0.2", "00.2.0", "0.2.0-", "latest", "0.2.0; rm -r ."])
    test(`"${version}" is not a version`, () => {
      assert.throws(() => asks(`--version=${version}`), /is not a version such as 0\.2\.0/);
    });

  test("a version has to be given", () => {
    assert.throws(() => asks("--version="), /needs a version/);
    assert.throws(() => asks(), /needs a version/);
  });

  for (const image of ["registry.example.com/etcd-operator", "ghcr.io/a/b_c/d-e", "localhost/x", "127.0.0.1:5000/x"])
    test(`an image may be ${image}`, () => {
      assert.partialDeepStrictEqual(asks("--version=0.2.0", `--image=${image}`), { image });
    });

  for (const image of ["etcd-operator", "library/etcd-operator", "Registry.example.com/x", "/x"])
    test(`the image "${image}" has no registry, so that nodes would ask one that is not ours`, () => {
      assert.throws(() => asks("--version=0.2.0", `--image=${image}`), /must begin with the host of its registry/);
    });

  for (const image of ["a.example.com/", "a.example.com/x:1", `a.example.com/x@sha256:${"0".repeat(64)}`, "a.b/X"])
    test(`the image "${image}" is not a repository`, () => {
      assert.throws(() => asks("--version=0.2.0", `--image=${image}`), /must be a repository in lower case/);
    });
});
