// The whole controller through generated histories, on an in-memory Kubernetes and etcd: what must never happen is
// asserted all the time, and when the trouble is over the cluster must come to rest as it was asked for.
// PROPERTY_RUNS=1000 plays so many histories of each sort.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { Pod } from "../kube/objects/kinds.ts";
import type { Sort } from "./testing/happenings.ts";
import { histories, type History, type HistoryOptions, Play } from "./testing/history.ts";
import { key } from "./testing/stage.ts";

const asked = process.env["PROPERTY_RUNS"];
const runs = (usual: number): number => (asked === undefined ? usual : Number(asked));

async function survives(history: History): Promise<void> {
  await using played = new Play(history, true);
  await played.play(history);
  await played.comeToRest();
  assert.ok(!played.stage.watch.isDoomed(), await played.stage.describe());
}

function check(options: HistoryOptions, usual: number, play: (history: History) => Promise<void>): Promise<void> {
  return fc.assert(fc.asyncProperty(histories(options), play), { numRuns: runs(usual) });
}

describe("a cluster survives what it could survive alone, and comes to rest as it was asked for", () => {
  const sorts: readonly (readonly [string, ...Sort[]])[] = [
    ["through sizes, kills, evictions, lost nodes and changes by hand", "everyday"],
    ["through lost data", "everyday", "wipes"],
    ["through containers that cannot be started again", "everyday", "images"],
    ["through lost Services and labels that may not be made again", "everyday", "refusals"],
    ["through edits of version and settings", "everyday", "edits"],
    ["through specs that cannot be applied", "everyday", "mistakes"],
    ["with members that were started with other flags", "everyday", "flags"],
    ["through all of it", "everyday", "wipes", "images", "refusals", "edits", "mistakes", "flags"],
  ];
  for (const [what, ...wanted] of sorts) test(what, () => check({ sorts: wanted }, 20, survives));
});

test("whatever happens and however old an operator's view is, it loses nothing and comes to rest where there is a way", async () => {
  await check({ sorts: ["everyday", "wipes", "oldViews"] }, 40, async (history) => {
    await using played = new Play(history, false);
    await played.play(history);
    await played.comeToRest();
  });
});

test("without quorum for good it is left alone: no seed, no removal, whatever is asked for", async () => {
  const size = fc.integer({ min: 1, max: 6 });
  await fc.assert(
    fc.asyncProperty(histories({ sorts: ["everyday"], smallest: 3 }), size, async (history, size) => {
      await using played = new Play({ ...history, steps: [] }, false);
      await played.play({ ...history, steps: [], fromRest: true });
      const { stage } = played;
      await stage.pass(8_000);
      for (const name of await stage.podNames())
        await stage.api.delete(Pod, { ...key, name }, { gracePeriodSeconds: 0 });
      const members = JSON.stringify(stage.kubelet.etcd?.members);
      await stage.resize(size);
      await stage.pass(500_000);
      await stage.stopOperator();
      const after = stage.writes.filter((write) => !write.startsWith("patch EtcdCluster"));
      stage.startOperator();
      await stage.pass(60_000);
      await stage.stopOperator();
      assert.deepEqual(
        stage.writes.filter((write) => !write.startsWith("patch EtcdCluster")),
        after,
      );
      assert.equal(JSON.stringify(stage.kubelet.etcd?.members), members);
      assert.equal(stage.kubelet.seeds, 1);
    }),
    { numRuns: runs(10) },
  );
});
