// Carrying out plans: what holds up what, and what is reported of it. The API server here only says yes or no.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../kube/client/errors.ts";
import type { KubeObject } from "../../kube/objects/objects.ts";
import { silent } from "../../kube/process/log.ts";
import { assess } from "../assess/assess.ts";
import { memberName } from "../objects/names.ts";
import type { ClusterAction, ClusterDecision, ClusterPlan } from "../plan/actions.ts";
import { sampleClusterId, sampleName, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { inWords } from "../testing/actions-in-words.ts";
import { act } from "./act.ts";
import { type ClusterExecution, executionOf } from "./execution.ts";
import { refusalsIn } from "./outcome.ts";
import { RefusedUpkeep } from "./refused-upkeep.ts";
import { judged } from "../testing/judged.ts";

const quota = new ApiError(403, "Forbidden", "exceeded quota");
const down = new ApiError(500, "InternalError", "no");

interface Server {
  readonly execution: ClusterExecution;
  readonly asked: string[];
  /** What was read live. */
  readonly read: string[];
  readonly events: string[];
}

/** Refuses what is about one of these names. */
function server(refuses: Record<string, Error> = {}, now = (): number => sampleNow): Server {
  const asked: string[] = [];
  const read: string[] = [];
  const events: string[] = [];
  const world = sampleWorld({ members: [{ letter: "a" }, { letter: "b" }, { letter: "c" }] });
  const answer = (name = ""): Promise<KubeObject> => {
    asked.push(name);
    const refusal = refuses[name];
    return refusal === undefined ? Promise.resolve(name === "demo" ? world.cluster : {}) : Promise.reject(refusal);
  };
  const api = {
    // The EtcdCluster, as it was seen.
    get: ({ kind }: { kind: string }) => {
      read.push(kind);
      return Promise.resolve(world.cluster);
    },
    create: (_kind: unknown, { metadata }: KubeObject) => answer(metadata?.name),
    apply: (_kind: unknown, { metadata }: KubeObject) => answer(metadata?.name),
    mergePatch: (_kind: unknown, { name }: { name: string }) => answer(name),
    delete: (_kind: unknown, { name }: { name: string }) => answer(name),
  };
  const empty = { get: () => undefined };
  const context = {
    caches: () => ({ services: empty, budgets: empty }),
    events: { record: (_kind: unknown, _object: unknown, { reason }: { reason: string }) => events.push(reason) },
    refusedUpkeep: new RefusedUpkeep(),
    log: silent,
    now,
  };
  const assessment = assess(world, sampleNow);
  const execution = executionOf(assessment, { api, id: "1" } as never, context as never);
  return { execution, asked, read, events };
}

const pod = (letter: string): ClusterAction =>
  judged({
    do: "deletePod",
    member: memberName(letter),
    uid: letter,
    because: "a test",
    force: false,
  });
const decision = (...actions: ClusterAction[]): ClusterDecision => ({ actions, because: "a test" });
const client: ClusterAction = { do: "applyService", service: "client" };
const plan = (differs: Partial<ClusterPlan>): ClusterPlan => ({
  guards: [],
  decisions: [decision()],
  upkeep: [],
  ...differs,
});

test("guards come first, then the members, then upkeep", async () => {
  const { execution, asked } = server();
  const guard: ClusterAction = { do: "guardPod", member: sampleName("g"), uid: "g" };
  await act(plan({ upkeep: [client], decisions: [decision(pod("x"))], guards: [guard] }), execution);
  assert.deepEqual(asked, ["demo-g", "x", "demo-client"]);
});

test("the world is read live once in a decision, and again for the upkeep after it: the decision has changed it", async () => {
  const { execution, read } = server();
  await act(plan({ decisions: [decision(pod("x"), pod("y"))] }), execution);
  const inDecision = read.filter((kind) => kind === "EtcdCluster").length;
  await act(plan({ decisions: [decision(pod("x"))], upkeep: [pod("y")] }), execution);
  const inBoth = read.filter((kind) => kind === "EtcdCluster").length - inDecision;
  assert.deepEqual([inDecision, inBoth], [1, 2]);
});

test("upkeep and guards that are refused hold up nothing, and are reported", async () => {
  const { execution, events } = server({ "demo-client": quota, "demo-g": quota });
  const budget: ClusterAction = { do: "applyBudget", minAvailable: 2 };
  const guard: ClusterAction = { do: "guardPod", member: sampleName("g"), uid: "g" };
  const outcome = await act(
    plan({ guards: [guard], decisions: [decision(pod("x"))], upkeep: [client, budget] }),
    execution,
  );
  assert.deepEqual(inWords(outcome.did), ["delete x", "budget 2"]);
  assert.equal(outcome.obstacle, undefined);
  assert.equal(outcome.passed.length, 2);
  assert.match(refusalsIn(outcome).join(), /exceeded quota/);
  assert.deepEqual(events, ["Pod Deleted"]);
});

test("the first action of a decision that fails ends it", async () => {
  const { execution, asked } = server({ y: quota });
  const outcome = await act(
    plan({ decisions: [decision(pod("x"), pod("y"), pod("z")), decision(pod("w"))] }),
    execution,
  );
  assert.deepEqual([inWords(outcome.did), outcome.obstacle?.t], [["delete x"], "refused"]);
  assert.deepEqual(asked, ["x", "y"]);
});

test("the id of a cluster is written before anything is built on it", async () => {
  const { execution, asked } = server();
  const latch: ClusterAction = { do: "recordClusterId", clusterId: sampleClusterId };
  await act(plan({ decisions: [decision(latch, pod("x"))] }), execution);
  assert.deepEqual(asked, ["demo", "x"]);
});

test("no pod is made for a member that etcd does not list", async () => {
  const { execution, asked } = server();
  const outcome = await act(plan({ decisions: [decision({ do: "createPod", member: sampleName("x") })] }), execution);
  assert.deepEqual([outcome.obstacle?.t, asked], ["notYet", []]);
});

test("a decision that is refused and changed nothing lets the next one be tried", async () => {
  const { execution } = server({ x: quota, y: quota });
  const second = decision(pod("z"));
  const outcome = await act(plan({ decisions: [decision(pod("x")), decision(pod("y")), second] }), execution);
  assert.deepEqual([inWords(outcome.did), outcome.obstacle], [["delete z"], undefined]);
  assert.equal(outcome.decision, second);
  assert.equal(outcome.passed.length, 2);
});

test("when all are refused, what was wanted most is what stands in the way", async () => {
  const { execution } = server({ x: quota, y: quota });
  const outcome = await act(plan({ decisions: [decision(pod("x")), decision(pod("y")), decision()] }), execution);
  assert.deepEqual(outcome.obstacle?.at, pod("x"));
});

test("a decision that failed for another reason is not passed over", async () => {
  const { execution, asked } = server({ x: down });
  const outcome = await act(plan({ decisions: [decision(pod("x")), decision(pod("y"))] }), execution);
  assert.deepEqual([outcome.obstacle?.t, asked], ["failed", ["x"]]);
});

test("upkeep that was refused a moment ago is not asked for again at once, and is reported all the while", async () => {
  let time = sampleNow;
  const refuses: Record<string, Error> = { "demo-client": quota };
  const { execution, asked } = server(refuses, () => time);
  const upkeep = plan({ upkeep: [client] });
  for (let n = 0; n < 5; n += 1) assert.equal((await act(upkeep, execution)).passed.length, 1);
  assert.equal(asked.length, 1);
  // Something else is asked for at once.
  await act(plan({ upkeep: [{ do: "applyBudget", minAvailable: 2 }] }), execution);
  assert.equal(asked.length, 2);
  await act(upkeep, execution);
  time += 10_000;
  delete refuses["demo-client"];
  assert.deepEqual((await act(upkeep, execution)).did, [client]);
});
