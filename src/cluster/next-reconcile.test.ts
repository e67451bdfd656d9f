// When a cluster is reconciled next: at once, soon, or not before something happens.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failed, again, type Next } from "../kube/controller/run-reconcile.ts";
import type { ClusterOutcome } from "./act/outcome.ts";
import type { ClusterAction } from "./plan/actions.ts";
import { nextOf } from "./reconcile.ts";
import { sampleClusterId, sampleId, sampleName } from "./testing/sample-world.ts";
import type { Reported } from "../controllers/report-status.ts";
import { judged } from "./testing/judged.ts";

const [member, uid, because] = [sampleName("a"), "uid-of-demo-a", "a test"];
const [id, at]: [ReturnType<typeof sampleId>, ClusterAction] = [sampleId("a"), { do: "createPod", member }];
const release = { restarts: 0, version: "3.6.16", image: "quay.io/coreos/etcd:v3.6.16" };

function next(differs: Partial<ClusterOutcome>, reported: Reported = "unchanged"): Next {
  return nextOf({ did: [], decision: { actions: [], because }, obstacle: undefined, passed: [], ...differs }, reported);
}

const onKubernetes: readonly ClusterAction[] = [
  { do: "applyService", service: "peer" },
  { do: "applyBudget", minAvailable: 2 },
  { do: "labelPod", member, uid },
  { do: "guardPod", member, uid },
  { do: "relabelPod", member, uid, change: { labels: {}, annotations: {} } },
  { do: "createImageCheck", node: "node-1", image: release.image },
  { do: "readImageCheck", name: "demo-check", uid },
  { do: "deleteImageCheck", name: "demo-check", uid },
  judged({ do: "changeImage", member, uid, from: release, to: release, afterComparing: false }),
  { do: "confirmChange", member, uid, from: release, to: release },
  { do: "recordLogVersion", version: "3.6" },
  { do: "resizePod", member, uid },
  { do: "createSeed", member },
  { do: "recordClusterId", clusterId: sampleClusterId },
  { do: "createPod", member },
  judged({ do: "deletePod", member, uid, because, force: false }),
];
const onEtcd: readonly ClusterAction[] = [
  { do: "addMember", member, as: "learner" },
  { do: "promote", id, member },
  { do: "updatePeerUrl", id, member, because },
  { do: "moveLeader", from: id, to: sampleId("b"), because: "it is about to go" },
  judged({ do: "removeMember", id, member, because, cause: "lost", pod: { t: "none" } }),
  { do: "enableDowngrade", to: "3.6", because },
  { do: "cancelDowngrade", because },
];

describe("after an action", () => {
  for (const action of onKubernetes)
    test(`on Kubernetes a watch brings the cluster back: ${action.do}`, () => {
      assert.deepEqual(next({ did: [action] }), again(30_000));
    });
  for (const action of onEtcd)
    test(`on etcd nothing does, so it is looked at again at once: ${action.do}`, () => {
      assert.deepEqual(next({ did: [at, action] }), again(20));
    });
});

const down = new Error("no");
const refused = { t: "refused", at, because: "quota" } as const;
const tooEarly = { t: "notYet", at, because, againAfter: 250, byEtcd: true } as const;
const later = (requeueAfter: number) => ({ decision: { actions: [], because, requeueAfter } });
const table: [string, Next, Next][] = [
  ["one at rest is looked at now and then", next({}), again(30_000)],
  ["one is looked at when its plan asks for it", next(later(100)), again(100)],
  ["one is looked at now and then, however long its plan would wait", next(later(600_000)), again(30_000)],
  [
    "a failure is left to the back-off, whatever was done before it",
    next({ did: onEtcd, obstacle: { t: "failed", at, error: down } }),
    failed(down),
  ],
  ["what is too early is tried again when it says", next({ obstacle: tooEarly }), again(250)],
  ["what is refused is tried again, for a quota has no watch", next({ obstacle: refused }), again(10_000)],
  ["so is what was refused on the way", next({ passed: [refused] }), again(10_000)],
  ["so is a status that was refused", next({}, "refused"), again(10_000)],
  ["a status that was outdated is written when the cache has caught up", next({}, "outdated"), again(1000)],
];
for (const [what, is, wanted] of table) test(what, () => assert.deepEqual(is, wanted));
