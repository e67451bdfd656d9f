// The whole controller through generated histories, on an in-memory Kubernetes and etcd: what must never happen is
// asserted all the time, and when the trouble is over the cluster must come to rest as it was asked for.
// PROPERTY_RUNS=1000 plays that many new histories of each sort; `make matrix` does.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { Pod } from "../kube/objects/kinds.ts";
import type { Happening, Sort } from "./testing/happenings.ts";
import { histories, type History, type HistoryOptions, Play, type Step } from "./testing/history.ts";
import { key } from "./testing/stage.ts";

const asked = process.env["PROPERTY_RUNS"];
/** A few histories that are always the same, or as many others as were asked for. */
const sample = (usual: number) => (asked === undefined ? { numRuns: usual, seed: 1 } : { numRuns: Number(asked) });

const plain: History = {
  seed: 0,
  version: "3.6.16",
  size: 3,
  fromRest: false,
  oldFlags: false,
  volumes: false,
  tls: false,
  copies: false,
  steps: [],
};
const step = (happening: Happening, ms = 0): Step => ({ happening, ms, operator: undefined });

/** Nothing happens to it that it would not survive by itself. */
async function survives(history: History): Promise<void> {
  await using played = await Play.of(history, true);
  await played.play(history);
  await played.comeToRest();
  assert.ok(!played.stage.watch.isDoomed(), await played.stage.describe());
}

/** Too much may happen to it, and then it is lost; but never by an operator. */
async function suffers(history: History): Promise<void> {
  await using played = await Play.of(history, false);
  await played.play(history);
  await played.comeToRest();
}

function check(options: HistoryOptions, usual: number, play: (history: History) => Promise<void>): Promise<void> {
  return fc.assert(fc.asyncProperty(histories(options), play), sample(usual));
}

describe("a cluster survives what it could survive alone, and comes to rest as it was asked for", () => {
  const sorts: readonly (readonly [string, number, ...Sort[]])[] = [
    ["through sizes, kills, evictions, lost nodes and changes by hand", 10, "everyday"],
    ["through lost data", 10, "everyday", "wipes"],
    ["through containers that cannot be started again", 10, "everyday", "images"],
    ["through lost Services and labels that may not be made again", 10, "everyday", "refusals"],
    ["through webhooks that change pods, and quotas that refuse them", 8, "everyday", "admission"],
    ["through edits of version and settings", 10, "everyday", "edits"],
    ["through members that are changed one at a time", 15, "everyday", "edits", "rolls"],
    ["through specs that cannot be applied", 10, "everyday", "mistakes"],
    ["with members that were started with other flags", 10, "everyday", "flags"],
    ["with volumes that are lost, and pods that are all gone at once", 15, "everyday", "volumes"],
    ["with volumes, through lost data, edits and changes", 15, "everyday", "volumes", "wipes", "edits", "rolls"],
    ["through moves to volumes and away from them", 10, "everyday", "moves", "edits"],
    ["with certificates whose CAs are replaced", 4, "everyday", "certificates"],
    [
      "with certificates and volumes, through edits and changes",
      4,
      "everyday",
      "certificates",
      "volumes",
      "edits",
      "rolls",
    ],
    ["with certificates, through lost, damaged and old Secrets and the course of months", 6, "everyday", "secrets"],
    ["through the same while CAs are replaced", 4, "everyday", "secrets", "certificates"],
    ["through databases that grow full, and nodes that are full", 6, "everyday", "edits", "space"],
    ["through all of it", 25, "everyday", "wipes", "images", "refusals", "edits", "rolls", "mistakes", "flags"],
  ];
  for (const [what, usual, ...wanted] of sorts) test(what, () => check({ sorts: wanted }, usual, survives));
});

test("with backups and restores, and operators that are overtaken, a cluster survives what it could survive alone", () =>
  check({ sorts: ["everyday", "restores", "rivals"] }, 8, survives));

describe("what people do with files of YAML costs no data", () => {
  const sorts: readonly (readonly [string, number, ...Sort[]])[] = [
    ["with volumes, an EtcdCluster that is deleted and applied again", 6, "everyday", "volumes", "reapplied"],
    ["the same between backups and restores", 6, "everyday", "restores", "reapplied"],
    ["an EtcdCluster that is brought into another namespace with its claims", 6, "everyday", "restores", "clones"],
  ];
  for (const [what, usual, ...wanted] of sorts) test(what, () => check({ sorts: wanted }, usual, survives));
});

test("whatever happens and however old an operator's view is, it loses nothing and comes to rest where there is a way", () =>
  check({ sorts: ["everyday", "wipes", "oldViews"] }, 25, suffers));

test("the same with volumes, backups and restores of which an operator has an old view", () =>
  check({ sorts: ["everyday", "volumes", "restores", "oldViews"] }, 8, suffers));

/** What generated histories have found, in their shortest form. */
describe("found once", () => {
  const crashes = step({ t: "repository", to: "crashing.example/etcd" }, 1000);
  const found: readonly (readonly [string, (history: History) => Promise<void>, Partial<History>])[] = [
    [
      "an id that was recorded while a stray voter took the quorum stays",
      suffers,
      { size: 1, steps: [step({ t: "pastRestart", of: ["pods", "clusters"], agoMs: 2000 }), step({ t: "addByHand" })] },
    ],
    [
      "nobody is taken out of a cluster that shrinks while another, unseen, is about to go",
      suffers,
      {
        size: 4,
        steps: [
          step({ t: "deaf", to: "secrets" }, 6000),
          step({ t: "silence", who: 0 }),
          step({ t: "pastRestart", of: ["pods", "backups"], agoMs: 2000 }, 150_000),
          { happening: { t: "scale", size: 1 }, ms: 30_000, operator: { t: "lives" } },
          step({ t: "hear" }),
          step({ t: "deletePod", who: 0 }),
          step({ t: "wipe", who: 0 }),
          step({ t: "deaf", to: "pods" }),
          step({ t: "nothing" }, 6000),
        ],
      },
    ],
    [
      "a voter is not added again and again while no pod can be made for it",
      survives,
      {
        version: "3.2.32",
        steps: [
          step({ t: "nothing" }, 500),
          step({ t: "quota", refuses: "pods" }),
          step({ t: "deletePod", who: 0 }, 60_000),
        ],
      },
    ],
    [
      "a version that nobody runs any more leaves the status, which is then left alone",
      survives,
      {
        size: 1,
        fromRest: true,
        steps: [
          step({ t: "version", to: "3.7.3" }),
          step({ t: "scale", size: 2 }, 30_000),
          step({ t: "version", to: "3.6.16" }),
          step({ t: "scale", size: 1 }),
        ],
      },
    ],
    [
      "a seed that lost its labels before anybody saw it serve is found",
      survives,
      {
        size: 1,
        steps: [
          step({ t: "nothing" }, 100),
          step({ t: "strip", of: "labels", who: 0, forGood: false }),
          step({ t: "strip", of: "peer", who: 0, forGood: false }),
        ],
      },
    ],
    [
      "a lone member that does not come up after a change comes back when the spec is set back",
      survives,
      { size: 1, fromRest: true, steps: [crashes, step({ t: "nothing" }, 30_000)] },
    ],
    [
      "a member that does not come up after a change gets the image that is wanted, though other settings are wanted, too",
      survives,
      { fromRest: true, steps: [crashes, step({ t: "restart", at: 0 }), step({ t: "nothing" }, 1000)] },
    ],
    [
      "a member that does not come up gets the image that it served with where the version that is wanted is refused",
      survives,
      {
        size: 1,
        steps: [step({ t: "version", to: "3.4.23" }), crashes, step({ t: "nothing" }, 6000)],
      },
    ],
    [
      "the second of two voters that cannot start is made again with a corrected image where there are no learners",
      survives,
      {
        size: 1,
        version: "3.2.32",
        fromRest: true,
        steps: [crashes, step({ t: "settings", snapshotCount: 1000 }), step({ t: "nothing" }, 1000)],
      },
    ],
    [
      "members that serve on claims which are all deleted are replaced one by one",
      survives,
      { volumes: true, fromRest: true, steps: [step({ t: "deleteClaims" }, 30_000)] },
    ],
    [
      "a member that never ran and lost its claim gets another one",
      survives,
      {
        size: 2,
        volumes: true,
        steps: [
          step({ t: "deletePod", who: 0 }, 500),
          step({ t: "deleteClaim", who: 3 }),
          step({ t: "deletePod", who: 0 }),
          step({ t: "scale", size: 2 }),
          step({ t: "deletePods" }),
        ],
      },
    ],
    [
      "a cluster that is deleted and applied again while a member joins goes on with all of its volumes",
      survives,
      {
        volumes: true,
        size: 1,
        steps: [step({ t: "nothing" }, 30_000), step({ t: "scale", size: 2 }), step({ t: "reapply" })],
      },
    ],
    [
      "a backup that is replaced while it is restored ends the restore with a sentence, and another one succeeds",
      survives,
      {
        size: 1,
        copies: true,
        steps: [
          step({ t: "backUp" }),
          step({ t: "deletePod", who: 0 }, 2500),
          step({ t: "backUp" }),
          step({ t: "scale", size: 1 }),
          step({ t: "restore" }),
          step({ t: "clone" }),
        ],
      },
    ],
    [
      "a member with another domain has its name in the certificate, though another CA was asked for at the same time",
      survives,
      {
        size: 1,
        tls: true,
        steps: [
          step({ t: "nothing" }, 1000),
          step({ t: "domain", to: ".corp.example" }),
          step({ t: "rotate", what: 0 }, 100),
        ],
      },
    ],
    [
      "a lone member with a volume gets other settings in the image that it has, not in one that nobody tried",
      survives,
      {
        size: 1,
        volumes: true,
        steps: [
          step({ t: "wipe", who: 0 }),
          step({ t: "repository", to: "crashing.example/etcd" }),
          step({ t: "settings", snapshotCount: 1000 }, 2500),
          step({ t: "wipe", who: 0 }),
        ],
      },
    ],
  ];
  for (const [what, play, history] of found) test(what, () => play({ ...plain, ...history }));
});

test("without quorum for good it is left alone: no seed, no removal, whatever is asked for", async () => {
  const sizes = fc.record({ from: fc.integer({ min: 3, max: 5 }), to: fc.integer({ min: 1, max: 6 }), seed: fc.nat() });
  await fc.assert(
    fc.asyncProperty(sizes, async ({ from, to, seed }) => {
      const history = { ...plain, seed, size: from, fromRest: true };
      await using played = await Play.of(history, false);
      await played.play(history);
      const { stage } = played;
      await stage.pass(8_000);
      for (const name of await stage.podNames())
        await stage.api.delete(Pod, { ...key, name }, { gracePeriodSeconds: 0 });
      const members = JSON.stringify(stage.kubelet.etcd?.members);
      await stage.resize(to);
      const before = stage.api.writes.length;
      await stage.pass(300_000);
      await stage.stopOperator();
      stage.startOperator();
      await stage.pass(60_000);
      assert.deepEqual(
        stage.api.writes.slice(before).filter(({ kind }) => kind !== "EtcdCluster"),
        [],
      );
      assert.equal(JSON.stringify(stage.kubelet.etcd?.members), members);
      assert.equal(stage.kubelet.etcds.seeds, 1);
    }),
    sample(5),
  );
});
