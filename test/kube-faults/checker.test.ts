import assert from "node:assert/strict";
import { test } from "node:test";
import { Checker, type Observation } from "./checker.ts";
import { type Entry, History } from "./history.ts";

const present = (uid: string, version: number): Entry => ({
  t: "present",
  uid,
  version: String(version),
  sequence: version * 10,
});
const absent = (uid: string): Entry => ({ t: "absent", uid });
const reported = (type: "added" | "updated" | "deleted", name: string, uid: string, version: number): Observation => ({
  t: "change",
  type,
  name,
  uid,
  version: String(version),
  sequence: version * 10,
});

function written(entries: Record<string, Entry[]>): History {
  const history = new History();
  for (const [name, list] of Object.entries(entries)) for (const entry of list) history.add(name, entry);
  return history;
}

function complaintsAbout(history: History, observations: readonly Observation[]): string[] {
  const checker = new Checker("informer");
  for (const observation of observations) checker.observe(observation);
  return checker.complaints(history);
}

const history = written({
  a: [present("a1", 11), present("a1", 12), absent("a1"), present("a2", 15), present("a2", 31)],
  b: [present("b1", 13), absent("b1"), present("b2", 22), present("b2", 23), present("b2", 32)],
  c: [present("c1", 14), present("c1", 24), present("c1", 33)],
  d: [present("d1", 16), absent("d1")],
  e: [present("e1", 25), present("e1", 26), absent("e1")],
  f: [present("f1", 27), absent("f1"), present("f2", 34), absent("f2")],
});

/** Watched up to 16, then away until a list at version 29, then watched on. */
const faithful: readonly Observation[] = [
  { t: "listed" },
  { t: "watching", version: "10" },
  reported("added", "a", "a1", 11),
  reported("updated", "a", "a1", 12),
  reported("added", "b", "b1", 13),
  reported("added", "c", "c1", 14),
  reported("deleted", "a", "a1", 14),
  reported("added", "a", "a2", 15),
  reported("added", "d", "d1", 16),
  { t: "watchEnded", because: "expired" },
  reported("deleted", "d", "d1", 16),
  reported("deleted", "b", "b1", 13),
  reported("added", "b", "b2", 23),
  reported("updated", "c", "c1", 24),
  { t: "listed" },
  { t: "watching", version: "29" },
  reported("updated", "a", "a2", 31),
  { t: "watchEnded", because: "error" },
  { t: "watching", version: "31" },
  reported("updated", "b", "b2", 32),
  reported("updated", "c", "c1", 33),
  reported("added", "f", "f2", 34),
  reported("deleted", "f", "f2", 35),
];

test("an informer that reported everything is not complained about", () => {
  assert.deepEqual(complaintsAbout(history, faithful), []);
});

test("any single change that is lost is complained about", () => {
  for (const [index, change] of faithful.entries()) {
    if (change.t !== "change") continue;
    assert.notDeepEqual(complaintsAbout(history, faithful.toSpliced(index, 1)), [], JSON.stringify(change));
  }
});

test("any single change that is reported twice is complained about", () => {
  for (const [index, change] of faithful.entries()) {
    if (change.t !== "change") continue;
    assert.notDeepEqual(complaintsAbout(history, faithful.toSpliced(index, 0, change)), [], JSON.stringify(change));
  }
});

test("two changes of one object in the wrong order are complained about", () => {
  const swapped = faithful.toSpliced(2, 2, faithful[3]!, faithful[2]!);
  assert.notDeepEqual(complaintsAbout(history, swapped), []);
});

test("an object that was recreated and reported as updated is complained about", () => {
  const short = written({ a: [present("a1", 11), absent("a1"), present("a2", 12)] });
  const away: Observation[] = [
    { t: "listed" },
    { t: "watching", version: "10" },
    reported("added", "a", "a1", 11),
    { t: "watchEnded", because: "expired" },
  ];
  const back: Observation[] = [{ t: "listed" }, { t: "watching", version: "12" }];
  const seenAs = (...changes: Observation[]): string[] => complaintsAbout(short, [...away, ...changes, ...back]);
  assert.deepEqual(seenAs(reported("deleted", "a", "a1", 11), reported("added", "a", "a2", 12)), []);
  assert.notDeepEqual(seenAs(reported("updated", "a", "a2", 12)), []);
  assert.notDeepEqual(seenAs(reported("added", "a", "a2", 12)), []);
});

test("a state that was never written is complained about", () => {
  assert.notDeepEqual(complaintsAbout(history, [...faithful, reported("updated", "c", "c1", 99)]), []);
});

test("an informer is behind until it has reported the last state of every object", () => {
  const checker = new Checker("informer");
  for (const observation of faithful.slice(0, -1)) checker.observe(observation);
  assert.deepEqual(checker.behind(history).length, 1);
  checker.observe(faithful.at(-1)!);
  assert.deepEqual(checker.behind(history), []);
});
