// What an operator that was rolled back leaves of a status that a later one has written.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaulted, integer, map, object, string } from "../api/schema/schema.ts";
import { statusPatch } from "./status-patch.ts";

const schema = object("Status.", {
  phase: string("Phase."),
  size: integer("Size."),
  restore: object("Restore.", { name: string("Name."), plan: string("Plan.") }),
  versions: defaulted({}, map("Versions.", integer("Count."))),
});

const rows: readonly (readonly [string, object, object, object | undefined])[] = [
  ["a field of a later operator stays", { phase: "Running", later: 1 }, { phase: "Running" }, undefined],
  ["and does not hold up others", { phase: "a", later: 1 }, { phase: "b" }, { phase: "b" }],
  ["a field that is known goes", { phase: "a", size: 3 }, { size: 3 }, { phase: null }],
  [
    "the same holds inside of objects",
    { restore: { name: "r", plan: "p", later: { deep: 1 } } },
    { restore: { name: "r" } },
    { restore: { plan: null } },
  ],
  ["an object that is known goes as a whole", { restore: { name: "r", later: 1 } }, {}, { restore: null }],
  [
    "keys of maps are no fields",
    { versions: { "3.5.35": 1, "3.6.16": 2 } },
    { versions: { "3.6.16": 3 } },
    { versions: { "3.5.35": null, "3.6.16": 3 } },
  ],
];
for (const [what, before, after, wanted] of rows)
  test(what, () => assert.deepEqual(statusPatch(schema, before, after), wanted));
