// Every reason that the operator gives for a cluster that is not Ready has a meaning for other tools.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { readyReasons } from "./ready-reasons.ts";

const source = path.resolve(import.meta.dirname, "..");
const textOf = (file: string): string => readFileSync(path.join(source, file), "utf8");

/** One CamelCase word in quotes; the reasons of etcd-operator 0.9 are words with spaces. */
const words = (text: string): string[] => [...text.matchAll(/"([A-Z][A-Za-z]+)"/g)].map(([, word = ""]) => word);

test("the table has every reason that the report gives, and no other", () => {
  const conditions = textOf("report/conditions.ts");
  const between = (from: string, to: string): string => {
    const begin = conditions.indexOf(from);
    const end = conditions.indexOf(to, begin);
    assert.ok(begin >= 0 && end > begin, `${from} … ${to}`);
    return conditions.slice(begin, end);
  };
  const given = [
    ...words(between("function reasonOf(", "export function adviceOn")),
    ...words(between("function ready(", "/** While nobody says")),
    ...words(between("function disputeIn(", "function problemsOfPods")),
    ...words(/function keptOutReason.*$/m.exec(textOf("report/kept-out.ts"))?.[0] ?? ""),
    ...words(/readonly reason:.*$/m.exec(textOf("assess/silence.ts"))?.[0] ?? ""),
  ].filter((word) => word !== "AllMembersReady");
  assert.deepEqual([...new Set(given)].sort(), Object.keys(readyReasons).sort());
});
