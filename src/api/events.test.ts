// The table of event reasons: what people filter by, and what the docs say about it.
import assert from "node:assert/strict";
import { it } from "node:test";
import { type EventName, type EventReason, eventReasons, type KnownEvent } from "./events.ts";

const rows = Object.values<EventReason>(eventReasons);

it("is a type: a name or a reason that is not in it does not compile", () => {
  const known: KnownEvent = { type: "Normal", reason: "New Member Added", action: "addMember", note: "It was added" };
  // @ts-expect-error: misspelt
  const event: KnownEvent = { ...known, reason: "New Member Aded" };
  // @ts-expect-error: misspelt
  const name: EventName = "newMemberAded";
  assert.ok(event.reason !== known.reason && !Object.hasOwn(eventReasons, name));
});

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
