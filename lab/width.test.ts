// Text is cut off and wrapped so that no line is longer than the terminal is wide.
import assert from "node:assert/strict";
import { test } from "node:test";
import { clipped, wrapped } from "./width.ts";

test("a text that fits stays as it is, and a longer one ends in an ellipsis", () => {
  assert.deepEqual(
    [8, 7, 1, 0, -3].map((width) => clipped("12345678", width)),
    ["12345678", "123456…", "…", "", ""],
  );
});

test("a sentence is wrapped at its spaces", () => {
  assert.deepEqual(wrapped("the data of the cluster is gone", 12), ["the data of", "the cluster", "is gone"]);
  assert.deepEqual(wrapped("it is gone", 10), ["it is gone"]);
  assert.deepEqual(wrapped("", 10), [""]);
});

test("a word that is longer than a line is cut", () => {
  assert.deepEqual(wrapped("see example/etcd there", 8), ["see", "example/", "etcd", "there"]);
  assert.deepEqual(wrapped("abc", 0), ["a", "b", "c"]);
});

test("columns of a line that fits keep their spaces", () => {
  assert.deepEqual(wrapped("NAME     AGE", 40), ["NAME     AGE"]);
});
