import assert from "node:assert/strict";
import { test } from "node:test";
import { readLabelSelector } from "./label-selector.ts";

const labels = { app: "etcd", "example.com/tier": "db", empty: "" };

const cases: [selector: string, matches: boolean][] = [
  ["", true],
  ["app=etcd", true],
  ["app==etcd", true],
  ["app = etcd", true],
  ["app=web", false],
  ["app!=web", true],
  ["app!=etcd", false],
  ["other!=x", true],
  ["other=x", false],
  ["empty=", true],
  ["other=", false],
  ["app", true],
  ["other", false],
  ["!other", true],
  ["!app", false],
  ["app in (web, etcd)", true],
  ["app in (web)", false],
  ["app notin (web,x)", true],
  ["app notin (etcd)", false],
  ["other notin (x)", true],
  ["other in (x)", false],
  ["app=etcd,example.com/tier in (db,cache),!other", true],
  ["app=etcd,example.com/tier in (cache)", false],
];

for (const [selector, matches] of cases) {
  test(`the selector ${JSON.stringify(selector)} ${matches ? "matches" : "does not match"}`, () => {
    assert.equal(readLabelSelector(selector)?.(labels), matches);
  });
}

for (const selector of ["app in (web", "app in web", "app>1", "app = a b", "!app=web", "a,=b"]) {
  test(`the selector ${JSON.stringify(selector)} cannot be read`, () => {
    assert.equal(readLabelSelector(selector), undefined);
  });
}
