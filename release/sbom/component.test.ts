import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Release } from "../part.ts";
import { type Component, idOf, licenseIn } from "./component.ts";
import { modulesIn } from "./go.ts";
import { licensesOf } from "./licenses.ts";
import { lockedPackages, npmComponent, packagesIn } from "./npm.ts";
import { spdxOf } from "./spdx.ts";

const integrity = `sha512-${Buffer.alloc(64, 1).toString("base64")}`;

describe("the bill of materials", () => {
  test("has the packages that a bundle took files from, those inside of others, too", () => {
    assert.deepEqual(
      packagesIn([
        "src/main.ts",
        "node_modules/yaml/dist/a.js",
        "node_modules/yaml/dist/b.js",
        "node_modules/a/node_modules/@b/c/index.js",
        // A copy of the tree, whose packages are elsewhere.
        "../../tree/node_modules/@aws-sdk/core/x.js",
      ]),
      ["node_modules/@aws-sdk/core", "node_modules/a/node_modules/@b/c", "node_modules/yaml"],
    );
  });

  test("names an npm package by what package-lock.json says of it", () => {
    const lock = lockedPackages(
      JSON.stringify({
        packages: { "": { version: "1" }, "node_modules/@a/b": { version: "1.2.3", integrity, license: "MIT" } },
      }),
    );
    const locked = lock.get("node_modules/@a/b");
    assert.ok(locked);
    assert.equal(lock.size, 1);
    const { purl, checksum, id } = npmComponent("@a/b", locked, [], []);
    assert.deepEqual(
      { purl, checksum, id },
      {
        purl: "pkg:npm/%40a/b@1.2.3",
        checksum: { algorithm: "SHA512", value: "01".repeat(64) },
        id: "npm--a-b-1.2.3",
      },
    );
  });

  test("has the Go modules that the program itself names", () => {
    const printed =
      "/x/etcdutl: go1.26.8\n\tpath\tgo.etcd.io/x\n\tmod\tgo.etcd.io/x\tv3.7.3\th1:a=\n\tdep\tgithub.com/A/b\tv1.0.0\th1:c=\n\tbuild\tCGO_ENABLED=0\n";
    assert.deepEqual(modulesIn(printed), {
      go: "1.26.8",
      modules: [
        { name: "go.etcd.io/x", version: "v3.7.3" },
        { name: "github.com/A/b", version: "v1.0.0" },
      ],
    });
    assert.throws(() => modulesIn("could not read"), /does not say what built/);
  });

  test("relates every component to what it is in, and says nothing twice", () => {
    const release: Release = {
      version: "0.2.0",
      revision: "abc",
      time: 1_767_225_600,
      folder: "",
      image: { repository: "registry.example.com/x", tag: "0.2.0", digest: `sha256:${"a".repeat(64)}` },
    };
    const one = (id: string, within: string[]): Component => ({
      id,
      name: id,
      version: "1",
      purl: "",
      texts: [],
      within,
    });
    const document = spdxOf(release, [
      one("etcd-operator", []),
      one("kubectl-etcd", []),
      one("yaml", ["etcd-operator", "kubectl-etcd"]),
    ]) as {
      creationInfo: { created: string };
      relationships: Record<string, string>[];
    };
    assert.equal(document.creationInfo.created, "2026-01-01T00:00:00Z");
    assert.deepEqual(
      document.relationships.map((row) => Object.values(row).join(" ").replaceAll("SPDXRef-", "")),
      [
        "DOCUMENT DESCRIBES image",
        "image CONTAINS etcd-operator",
        "etcd-operator CONTAINS yaml",
        "kubectl-etcd CONTAINS yaml",
        "DOCUMENT DESCRIBES kubectl-etcd",
      ],
    );
  });
});

describe("licences", () => {
  for (const [license, text] of [
    ["MIT", "Permission is hereby granted, free of\ncharge, to any person obtaining a copy"],
    ["Apache-2.0", "Apache License\n Version 2.0, January 2004"],
    ["BSD-3-Clause", "Redistribution and use in source and binary forms … Neither the name of X"],
    ["BSD-2-Clause", "Redistribution and use in source and binary forms, with or without"],
    [undefined, "All rights reserved."],
  ] as const)
    test(`${license ?? "no licence"} is known by its words`, () => assert.equal(licenseIn(text), license));

  test("stand once, under everything that they are of", () => {
    const base = { id: "", purl: "", version: "1", within: [] };
    const text = licensesOf([
      { ...base, name: "a", texts: ["same\r\n"] },
      { ...base, name: "b", texts: ["same", "notice of b"] },
      { ...base, name: "c", license: "MIT", texts: [] },
    ]);
    assert.equal(text.split("same").length, 2);
    assert.match(text, /=\na 1\nb 1\n=/);
    assert.match(text, /c 1: MIT/);
  });

  test("an identifier has only characters that SPDX allows", () => {
    assert.equal(idOf("deb", "libstdc++6", "12~x"), "deb-libstdc--6-12-x");
  });
});
