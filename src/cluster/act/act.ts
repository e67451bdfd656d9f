// Carries out a plan: guards, then what the members need, then upkeep. Each action is logged and reported as an event.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { keyOf, keyText } from "../../kube/objects/objects.ts";
import type { ClusterAction, ClusterDecision, ClusterPlan } from "../plan/actions.ts";
import { carryOut, eventsOf } from "./actions.ts";
import { type ClusterExecution, forgetReads } from "./execution.ts";
import { isRefused, type ActionObstacle, obstacleAt, type ClusterOutcome } from "./outcome.ts";

export async function act(plan: ClusterPlan, execution: ClusterExecution): Promise<ClusterOutcome> {
  const guards = await each(plan.guards, execution);
  const decided = await decide(plan.decisions, execution);
  const upkeep = await upkeepOf(plan, execution);
  return {
    did: [...guards.did, ...decided.did, ...upkeep.did],
    decision: decided.decision,
    obstacle: decided.obstacle,
    passed: [...guards.passed, ...decided.passed, ...upkeep.passed],
  };
}

async function upkeepOf(
  { upkeep }: ClusterPlan,
  execution: ClusterExecution,
): Promise<Pick<ClusterOutcome, "did" | "passed">> {
  const { cluster, context } = execution;
  const key = keyText(keyOf(cluster));
  const recent = context.refusedUpkeep.recent(key, upkeep, context.now());
  if (recent !== undefined) return { did: [], passed: recent };
  const ended = await each(upkeep, execution);
  context.refusedUpkeep.note(key, upkeep, ended.passed, context.now());
  return ended;
}

/** One that is refused before it changed anything lets the next one be tried: what it would have done can wait. */
async function decide(
  [first, ...others]: ClusterPlan["decisions"],
  execution: ClusterExecution,
): Promise<ClusterOutcome> {
  const outcome = await inOrder(first, execution);
  const [next, ...rest] = others;
  const { obstacle } = outcome;
  if (obstacle === undefined || outcome.did.length > 0 || !isRefused(obstacle) || next === undefined) return outcome;
  const after = await decide([next, ...rest], execution);
  // Nothing else could be done either: what was wanted most is what stands in the way.
  if (after.did.length === 0) return { ...after, obstacle, passed: [...obstacles(after), ...after.passed] };
  return { ...after, passed: [obstacle, ...after.passed] };
}

const obstacles = ({ obstacle }: ClusterOutcome): readonly ActionObstacle[] =>
  obstacle === undefined ? [] : [obstacle];

/** The first that fails ends it. */
async function inOrder(decision: ClusterDecision, execution: ClusterExecution): Promise<ClusterOutcome> {
  const did: ClusterAction[] = [];
  forgetReads(execution);
  for (const actions of together(decision.actions)) {
    const ended = await atOnce(actions, execution);
    did.push(...ended.did);
    const [obstacle] = ended.passed;
    if (obstacle !== undefined) return { did, decision, obstacle, passed: [] };
  }
  return { did, decision, obstacle: undefined, passed: [] };
}

/** In their order, and pods that are made one after another at the same time: none of them depends on another. */
function together(actions: readonly ClusterAction[]): readonly (readonly ClusterAction[])[] {
  const groups: ClusterAction[][] = [];
  for (const action of actions) {
    const last = groups.at(-1);
    if (action.do === "createPod" && last?.[0]?.do === "createPod") last.push(action);
    else groups.push([action]);
  }
  return groups;
}

/** None depends on another. */
function each(
  actions: readonly ClusterAction[],
  execution: ClusterExecution,
): Promise<Pick<ClusterOutcome, "did" | "passed">> {
  forgetReads(execution);
  return atOnce(actions, execution);
}

async function atOnce(
  actions: readonly ClusterAction[],
  execution: ClusterExecution,
): Promise<Pick<ClusterOutcome, "did" | "passed">> {
  const ended = await Promise.all(actions.map(async (action) => ({ action, obstacle: await one(action, execution) })));
  return {
    did: ended.flatMap(({ action, obstacle }) => (obstacle === undefined ? [action] : [])),
    passed: ended.flatMap(({ obstacle }) => (obstacle === undefined ? [] : [obstacle])),
  };
}

async function one(action: ClusterAction, execution: ClusterExecution): Promise<ActionObstacle | undefined> {
  const { assessment, cluster, context, reconcile } = execution;
  const log = context.log.with({ cluster: keyText(keyOf(cluster)), reconcileID: reconcile.id });
  try {
    await carryOut(action, execution);
  } catch (error) {
    const obstacle = obstacleAt(action, error);
    if (obstacle.t === "refused") log.warn("refused", { action, because: obstacle.because });
    if (obstacle.t === "notYet") log.debug("not yet", { action, because: obstacle.because });
    if (obstacle.t === "failed") log.warn("failed", { action, error: String(obstacle.error) });
    return obstacle;
  }
  log.info("did", { action });
  for (const event of eventsOf(action, assessment)) context.events.record(EtcdCluster, cluster, event);
  return undefined;
}
