import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { describe, test } from "node:test";
import { wrongIn } from "./lock.ts";

const root = path.resolve(import.meta.dirname, "../..");
type Lock = Parameters<typeof wrongIn>[0];
const text = (file: string): Promise<string> => readFile(path.join(root, file), "utf8");

describe("the npm packages of", () => {
  const azurite = "lab/build/modules/azurite-3.36.0";
  for (const folder of [".", "site", azurite])
    test(`${folder} have an entry and a hash each, and no host`, async () => {
      const lock = JSON.parse(await text(path.join(folder, "package-lock.json"))) as Lock;
      assert.ok(Object.keys(lock.packages).length > 100);
      assert.deepEqual(wrongIn(lock), []);
    });

  for (const folder of [".", "site"]) {
    test(`${folder} run no script when they are installed`, async () => {
      const settings = (await text(path.join(folder, ".npmrc"))).split("\n");
      assert.ok(settings.includes("ignore-scripts=true"));
      assert.ok(settings.includes("omit-lockfile-registry-resolved=true"));
    });

    test(`${folder} that are named directly have an exact version`, async () => {
      const manifest = JSON.parse(await text(path.join(folder, "package.json"))) as Record<string, object | undefined>;
      const named = ["dependencies", "devDependencies", "optionalDependencies"].flatMap((field) =>
        Object.entries(manifest[field] ?? {}),
      );
      assert.deepEqual(
        named.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version))),
        [],
      );
    });
  }
});

describe("a lock is refused", () => {
  const integrity = `sha512-${"A".repeat(86)}==`;
  const good: Lock = {
    lockfileVersion: 3,
    packages: {
      "": { dependencies: { a: "1.0.0" } },
      "node_modules/a": { version: "1.0.0", integrity, optionalDependencies: { "@b/c": "2.0.0" } },
      "node_modules/a/node_modules/@b/c": { version: "2.0.0", integrity, dependencies: { a: "^1.0.0" } },
    },
  };
  const changed = (where: string, fields: object): Lock => ({
    ...good,
    packages: { ...good.packages, [where]: { ...good.packages[where], ...fields } },
  });
  test("only when something is wrong", () => assert.deepEqual(wrongIn(good), []));

  const cases: readonly (readonly [why: string, lock: Lock, says: RegExp])[] = [
    ["without a hash", changed("node_modules/a", { integrity: undefined }), /^node_modules\/a has no sha512$/],
    ["with a weak hash", changed("node_modules/a", { integrity: "sha1-AAAA" }), /has no sha512$/],
    ["with a host", changed("node_modules/a", { resolved: "https://mirror.example/a.tgz" }), /names the host https/],
    ["with a link", changed("node_modules/a", { link: true }), /is a link$/],
    ["of another format", { ...good, lockfileVersion: 2 }, /^its version is 2, not 3$/],
    [
      "that lacks what a platform may need",
      changed("node_modules/a", { optionalDependencies: { "@b/c": "2.0.0", "@b/darwin": "2.0.0" } }),
      /^node_modules\/a needs @b\/darwin, which has no entry$/,
    ],
  ];
  for (const [why, lock, says] of cases)
    test(why, () => {
      const wrong = wrongIn(lock);
      assert.equal(wrong.length, 1, wrong.join());
      assert.match(wrong[0]!, says);
    });
});
