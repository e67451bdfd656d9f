// The table of event reasons: what people filter by, and what the docs say about it.
import assert from "node:assert/strict";
import { it } from "node:test";
import { type EventReason, eventReasons } from "./events.ts";

const rows = Object.values<EventReason>(eventReasons);

it("has each reason once", () => {
  assert.equal(new Set(rows.map(({ reason }) => reason)).size, rows.length);
});

it("says what to do about every warning", () => {
  const silent = rows.filter(({ type, whatToDo }) => type === "Warning" && whatToDo === undefined);
  assert.deepEqual(silent, []);
});

it("has sentences, which fit into a cell of a table", () => {
  for (const { reason, when, whatToDo = "None." } of rows)
    for (const sentence of [when, whatToDo]) assert.match(sentence, /^[^|\n]+\.$/, reason);
});

it("keeps the reasons of etcd-operator 0.9", () => {
  const reasons = new Set(rows.map(({ reason }) => reason));
  for (const old of ["New Member Added", "Member Removed", "Replacing Dead Member"]) assert.ok(reasons.has(old));
});
