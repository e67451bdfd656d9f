import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { type LabConfig, labConfig, UsageError } from "../config.ts";
import { faultsInForce, type Harm, inflict } from "./record.ts";
import { end, heal } from "./undo.ts";

let lab: LabConfig;
beforeEach(() => {
  lab = { ...labConfig(), state: fs.mkdtempSync(path.join(os.tmpdir(), "faults-")) };
});
afterEach(() => fs.rmSync(lab.state, { recursive: true }));

/** Harmless: a control group that does not exist has no processes to resume. */
const harm: Harm = { kind: "pause-container", cgroup: "/nowhere" };
const nothing = async (): Promise<void> => {};
const ids = (): string[] => faultsInForce(lab).map(({ id }) => id);

test("a fault is on record before its harm is done", async () => {
  let during: string[] = [];
  await inflict(lab, "pause-container ns/a main", harm, async () => void (during = ids()), nothing);
  assert.deepEqual(during, ["pause-container ns/a main"]);
  assert.deepEqual(ids(), during);
});

test("a fault that fails is undone and not on record", async () => {
  const failure = new Error("half done");
  let undone = 0;
  const act = (): Promise<void> => Promise.reject(failure);
  await assert.rejects(
    inflict(lab, "cut-node n0", harm, act, async () => void (undone += 1)),
    failure,
  );
  assert.equal(undone, 1);
  assert.deepEqual(ids(), []);
});

test("a fault in force is not caused a second time", async () => {
  await inflict(lab, "cut-node n0", harm, nothing, nothing);
  const again = inflict(lab, "cut-node n0", harm, () => assert.fail("acted"), nothing);
  await assert.rejects(again, UsageError);
  assert.deepEqual(ids(), ["cut-node n0"]);
});

test("an undoing command ends what its words name, in any order, and nothing else", async () => {
  const faults = ["cut-pods ns/a ns/b", "cut-pods ns/b ns/a --one-way", "cut-pods ns/a ns/c", "loss ns/a ns/b"];
  for (const id of faults) await inflict(lab, id, harm, nothing, nothing);
  await end(lab, "cut-pods", "ns/b", "ns/a");
  assert.deepEqual(ids().toSorted(), ["cut-pods ns/a ns/c", "loss ns/a ns/b"]);
  await assert.rejects(end(lab, "cut-pods", "ns/b"), UsageError);
  await end(lab, "cut-pods");
  assert.deepEqual(ids(), ["loss ns/a ns/b"]);
});

test("healing ends all that can be ended and tells what cannot", async () => {
  await inflict(lab, "pause-container ns/a main", harm, nothing, nothing);
  // There is no such node, so its volume cannot be freed.
  const stuck: Harm = { kind: "fill-disk", node: 8, ballast: "/nowhere/ballast" };
  await inflict(lab, "fill-disk ns/b data", stuck, nothing, nothing);
  await assert.rejects(heal(lab), { message: /^fill-disk ns\/b data: / });
  assert.deepEqual(ids(), ["fill-disk ns/b data"]);
});
