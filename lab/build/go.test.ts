import assert from "node:assert/strict";
import { test } from "node:test";
import { goMod, goSources, progressOf } from "./go.ts";

test("a go.mod names the wanted modules at their versions", () => {
  assert.equal(
    goMod("coredns", { "github.com/coredns/coredns": "v1.14.7" }),
    "module lab/coredns\n\ngo 1.24\n\nrequire (\n\tgithub.com/coredns/coredns v1.14.7\n)\n",
  );
  assert.equal(goMod("probe", {}), "module lab/probe\n\ngo 1.24\n");
});

test("the source of a program is all of its Go files", async () => {
  assert.deepEqual(Object.keys(await goSources("judges")), ["main.go"]);
  const robustness = await goSources("robustness");
  assert.ok("record.go" in robustness && "judge.go" in robustness);
  assert.ok(Object.values(robustness).every((text) => text.includes("package main")));
});

test("lines of go build are recognised", () => {
  const cases = {
    "go: downloading k8s.io/api v0.34.4": { is: "download", module: "k8s.io/api v0.34.4" },
    "internal/goarch": { is: "package" },
    "gopkg.in/yaml.v3": { is: "package" },
    "# lab/probe": { is: "other" },
    "./main.go:12:2: undefined: x": { is: "other" },
    "go: finding module for package a/b": { is: "other" },
  };
  for (const [line, progress] of Object.entries(cases)) assert.deepEqual(progressOf(line), progress, line);
});
