import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { type LabConfig, labConfig, UsageError } from "../config.ts";
import { faultsInForce, type Effect, inject } from "./record.ts";
import { end, heal } from "./undo.ts";

let lab: LabConfig;
beforeEach(() => {
  lab = { ...labConfig(), state: fs.mkdtempSync(path.join(os.tmpdir(), "faults-")) };
});
afterEach(() => fs.rmSync(lab.state, { recursive: true }));

/** A cgroup that does not exist has no processes to resume. */
const effect: Effect = { kind: "pause-container", cgroup: "/nowhere" };
const nothing = async (): Promise<void> => {};
const ids = (): string[] => faultsInForce(lab).map(({ id }) => id);

test("a fault is recorded before it is injected", async () => {
  let during: string[] = [];
  await inject(lab, "pause-container ns/a main", effect, async () => void (during = ids()), nothing);
  assert.deepEqual(during, ["pause-container ns/a main"]);
  assert.deepEqual(ids(), during);
});

test("a fault that fails is undone and not recorded", async () => {
  const failure = new Error("half done");
  let undone = 0;
  const act = (): Promise<void> => Promise.reject(failure);
  await assert.rejects(
    inject(lab, "cut-node n0", effect, act, async () => void (undone += 1)),
    failure,
  );
  assert.equal(undone, 1);
  assert.deepEqual(ids(), []);
});

test("an active fault is not injected again", async () => {
  await inject(lab, "cut-node n0", effect, nothing, nothing);
  const again = inject(lab, "cut-node n0", effect, () => assert.fail("acted"), nothing);
  await assert.rejects(again, UsageError);
  assert.deepEqual(ids(), ["cut-node n0"]);
});

test("an undo command ends the faults that its arguments name, in any order, and no others", async () => {
  const faults = ["cut-pods ns/a ns/b", "cut-pods ns/b ns/a --one-way", "cut-pods ns/a ns/c", "loss ns/a ns/b"];
  for (const id of faults) await inject(lab, id, effect, nothing, nothing);
  await end(lab, "cut-pods", "ns/b", "ns/a");
  assert.deepEqual(ids().toSorted(), ["cut-pods ns/a ns/c", "loss ns/a ns/b"]);
  await assert.rejects(end(lab, "cut-pods", "ns/b"), UsageError);
  await end(lab, "cut-pods");
  assert.deepEqual(ids(), ["loss ns/a ns/b"]);
});

test("heal ends every fault that it can and names those that it cannot", async () => {
  await inject(lab, "pause-container ns/a main", effect, nothing, nothing);
  // There is no such node, so its volume cannot be freed.
  const stuck: Effect = { kind: "fill-disk", node: 8, ballast: "/nowhere/ballast" };
  await inject(lab, "fill-disk ns/b data", stuck, nothing, nothing);
  await assert.rejects(heal(lab), { message: /^fill-disk ns\/b data: / });
  assert.deepEqual(ids(), ["fill-disk ns/b data"]);
});
