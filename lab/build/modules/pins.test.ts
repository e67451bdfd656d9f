import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { describe, test } from "node:test";
import { etcdRecipe, etcdVersions } from "../etcd.ts";
import { defaultKubernetes } from "../../config.ts";
import { pinsFolder, requirementsIn, takePins, wantedBut } from "./pins.ts";

const pins = import.meta.dirname;
const folders = (await readdir(pins, { withFileTypes: true })).filter((entry) => entry.isDirectory());

describe("the modules of each Go program", () => {
  const ofGo = folders.filter(({ name }) => existsSync(path.join(pins, name, "go.mod")));
  for (const { name } of ofGo)
    test(`${name} has a hash for every module that it requires`, async () => {
      const [mod, sum] = await Promise.all(
        ["go.mod", "go.sum"].map((file) => readFile(path.join(pins, name, file), "utf8")),
      );
      const required = requirementsIn(mod!);
      assert.ok(required.length > 0);
      for (const line of sum!.trimEnd().split("\n"))
        assert.match(line, /^\S+ v\S+ h1:[A-Za-z0-9+/]{43}=$/, "a line of go.sum");
      // Go reads only the go.mod of a module that gives no package; what a replace names instead has a line of its own.
      const replaced = new Set(
        [...mod!.matchAll(/^(?:replace\s+|\t)(\S+)(?: v\S+)? =>/gm)].map(([, module]) => module),
      );
      const hashed = new Set(sum!.split("\n").map((line) => line.replace(/(\/go\.mod)? h1:.*$/, "")));
      const missing = required.filter((one) => !hashed.has(one) && !replaced.has(one.split(" ")[0]));
      assert.deepEqual(missing, []);
      assert.doesNotMatch(mod!, /=> \//, "a path of a machine");
    });

  test("those of Kubernetes and of each etcd that is built from modules are there", async () => {
    const built = await Promise.all(etcdVersions.filter((version) => !version.startsWith("3.4.")).map(etcdRecipe));
    const wanted = [...built, { name: "kubernetes", version: defaultKubernetes }];
    const there = new Set(folders.map(({ name }) => name));
    assert.deepEqual(
      wanted.map(({ name, version }) => path.basename(pinsFolder(name, version))).filter((name) => !there.has(name)),
      [],
    );
  });
});

describe("pins", () => {
  const pinned = "module lab/x\n\nrequire a.example/b v1.2.0\n\nrequire (\n\tc.example/d v0.1.0 // indirect\n)\n";

  test("hold what is wanted, directly or not", () => {
    assert.deepEqual(requirementsIn(pinned), ["a.example/b v1.2.0", "c.example/d v0.1.0"]);
    assert.deepEqual(wantedBut(pinned, "require a.example/b v1.2.0\n"), []);
    assert.deepEqual(wantedBut(pinned, "require (\n\ta.example/b v1.3.0\n)\n"), ["a.example/b v1.3.0"]);
  });

  test("of another version are not taken: the build ends and says how new ones are written", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "pins-test-"));
    try {
      await writeFile(path.join(folder, "go.mod"), "module lab/etcd\n\nrequire go.etcd.io/etcd/server/v3 v3.0.1\n");
      await assert.rejects(
        takePins(pinsFolder("etcd", "3.6.16"), folder),
        /does not pin go\.etcd\.io\/etcd\/server\/v3 v3\.0\.1.*GO_PINS=write/,
      );
      await writeFile(path.join(folder, "go.mod"), "module lab/etcd\n\nrequire go.etcd.io/etcd/server/v3 v3.6.16\n");
      assert.equal(await takePins(pinsFolder("etcd", "3.6.16"), folder), "readonly");
      assert.match(await readFile(path.join(folder, "go.sum"), "utf8"), /go\.etcd\.io\/etcd\/server\/v3 v3\.6\.16 h1:/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
