// The status during a rolling change: updatedMembers counts one member after another. Where a machine is quick, or slow, nobody
// may be there to see each count; here everybody is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { volumesOf } from "./testing/happenings.ts";
import { Stage } from "./testing/stage.ts";

for (const [how, from, edit] of [
  ["restarted in another version", {}, { version: "3.7.3" }],
  ["restarted in the version before", { version: "3.7.3" }, { version: "3.6.16" }],
  ["replaced", {}, { etcd: { snapshotCount: 5_000 } }],
  ["given another pod on its volume", { pod: volumesOf("1Gi") }, { etcd: { snapshotCount: 5_000 } }],
] as const)
  test(`while each member is ${how}, the status counts those that are done, one after another`, async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3, "3.6.16", from);
    const counts = [(await stage.cluster()).status?.updatedMembers];
    await stage.edit(edit);
    const deadline = stage.clock.now() + 180_000;
    while (counts.length === 1 || counts.at(-1) !== 3) {
      assert.ok(stage.clock.now() < deadline, `counted so far: ${counts.join(", ")}`);
      await stage.pass(25);
      const count = (await stage.cluster()).status?.updatedMembers;
      if (count !== counts.at(-1)) counts.push(count);
    }
    assert.deepEqual(counts, [3, 0, 1, 2, 3]);
  });
