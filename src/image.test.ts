// The name of the operator's image is one under which nobody can put anything: nodes run what was loaded into them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { image } from "./image.ts";

const root = path.resolve(import.meta.dirname, "..");

test("the image has the name of a registry that cannot exist, and the manifests name no other", () => {
  const [registry = ""] = image.repository.split("/");
  // RFC 2606.
  assert.match(registry, /\.invalid$/);
  for (const file of ["install/install.yaml", "install/install-namespace.yaml"]) {
    const text = readFileSync(path.join(root, file), "utf8");
    const named = [...text.matchAll(/^ *(?:- )?image: (\S+)$/gm)].map(([, found]) => found);
    assert.deepEqual([...new Set(named)], [`${image.repository}:${image.tag}`], file);
  }
});
