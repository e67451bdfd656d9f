// Carries out what was decided about an EtcdRestore, and says what stood in the way. Each write has a precondition, or a name
// that the API server takes once.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { formatRestoreRequest, restoreAnnotation } from "../../api/etcd-cluster/restore-annotation.ts";
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { fieldManager } from "../../api/field-manager.ts";
import { scopeAnnotation } from "../../api/scope.ts";
import { delays } from "../../controllers/delays.ts";
import { forbidders, grantPermissions, type Obstacle, obstacleOf, triedAgain } from "../../controllers/obstacle.ts";
import type { Execution } from "../../controllers/stages.ts";
import { ApiError, isForbidden } from "../../kube/client/errors.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { keyOf, keyText } from "../../kube/objects/objects.ts";
import type { RestoreContext } from "../context.ts";
import type { RestoreWorld } from "../observe/world.ts";
import { fail, type RestoreAction, type RestoreDecision } from "../plan/actions.ts";
import { begunAnnotation } from "../plan/gates.ts";

export type RestoreExecution = Execution<RestoreWorld, RestoreContext>;

export interface RestoreOutcome {
  /** What was decided; a failure where that can never be done. */
  readonly decision: RestoreDecision;
  readonly obstacle: Obstacle | undefined;
}

export async function act(
  decision: RestoreDecision,
  upkeep: readonly RestoreAction[],
  execution: RestoreExecution,
): Promise<RestoreOutcome> {
  if (decision.actions.length + upkeep.length > 0 && !(await isAsSeen(execution)))
    return { decision, obstacle: changedMeanwhile };
  const outcome = await carryOutAll(decision, execution);
  for (const one of upkeep) await optional(one, execution);
  return outcome;
}

/** In their order; the first that cannot be done ends it. */
async function carryOutAll(decision: RestoreDecision, execution: RestoreExecution): Promise<RestoreOutcome> {
  for (const action of decision.actions) {
    try {
      await carryOut(action, execution);
      logOf(execution).info("did", { action: action.do });
    } catch (error) {
      const obstacle = obstacleOf(error, (words, refusal) => refusalOf(words, refusal, action));
      if (obstacle.t === "failed") throw error;
      if (obstacle.t === "notYet") return { decision, obstacle };
      logOf(execution).warn("refused", { action: action.do, because: obstacle.because });
      if (isForbidden(error)) return { decision, obstacle };
      // The spec cannot be edited any more, so it will never be accepted.
      return { decision: fail(obstacle.because), obstacle: undefined };
    }
  }
  return { decision, obstacle: undefined };
}

const changedMeanwhile: Obstacle = {
  t: "notYet",
  because: "the EtcdRestore has changed since it was read",
  againAfter: delays.cacheIsBehind,
};

/** A pod that stays holds up nothing: it goes with its owner. */
async function optional(action: RestoreAction, execution: RestoreExecution): Promise<void> {
  try {
    await carryOut(action, execution);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    logOf(execution).debug("not done", { action: action.do, error: error.message });
  }
}

const logOf = ({ world, reconcile, context }: RestoreExecution) =>
  context.log.with({ restore: keyText(keyOf(world.restore)), reconcileID: reconcile.id });

async function carryOut(action: RestoreAction, execution: RestoreExecution): Promise<void> {
  const {
    world: { restore },
    reconcile: { api },
  } = execution;
  const { namespace, name, uid = "" } = restore.metadata;
  const request = (cluster: string | undefined) => ({
    [restoreAnnotation]: formatRestoreRequest({ name, uid, cluster }),
  });
  switch (action.do) {
    case "markBegun": {
      const { resourceVersion } = restore.metadata;
      const patch = { metadata: { uid, resourceVersion, annotations: { [begunAnnotation]: uid } } };
      await api.mergePatch(EtcdRestore, { namespace, name }, patch, { fieldManager });
      return;
    }
    case "createWorker":
      await api.create(Pod, action.pod, { fieldManager });
      return;
    case "deleteWorker":
      await api.delete(Pod, { namespace, name: action.name }, { uid: action.uid });
      return;
    case "takeBackRequest": {
      const { uid, resourceVersion } = action;
      const patch = { metadata: { uid, resourceVersion, annotations: { [restoreAnnotation]: null } } };
      await api.mergePatch(EtcdCluster, { namespace, name: action.name }, patch, { fieldManager });
      return;
    }
    case "askCluster": {
      const patch = {
        metadata: { uid: action.uid, resourceVersion: action.resourceVersion, annotations: request(action.uid) },
      };
      await api.mergePatch(EtcdCluster, { namespace, name: action.name }, patch, { fieldManager });
      return;
    }
    case "createCluster": {
      const scope = restore.metadata.annotations?.[scopeAnnotation];
      const cluster: EtcdCluster = {
        metadata: {
          namespace,
          name: action.name,
          annotations: { ...request(undefined), ...(scope !== undefined && { [scopeAnnotation]: scope }) },
        },
        spec: action.spec,
      };
      await api.create(EtcdCluster, cluster, { fieldManager });
    }
  }
}

/**
 * Nothing is done for the sake of an EtcdRestore that is another by now: its data would be replaced again, or what was saved
 * of the old cluster be written over with what the new one holds.
 */
async function isAsSeen({ world: { restore }, reconcile: { api } }: RestoreExecution): Promise<boolean> {
  const { uid, resourceVersion } = restore.metadata;
  const live = await getOrUndefined(api, EtcdRestore, keyOf(restore));
  return live?.metadata?.uid === uid && live?.metadata?.resourceVersion === resourceVersion;
}

function refusalOf(words: string, refusal: ApiError, { do: what }: RestoreAction): string {
  if (!isForbidden(refusal)) {
    const field = what === "createWorker" ? "spec.worker" : "spec.clusterSpec";
    return `${words} Nothing was touched: correct ${field} and apply it again.`;
  }
  const advice =
    what === "createWorker"
      ? `Change spec.worker so that the namespace takes the pod, in another EtcdRestore, or change what forbids it: ${forbidders}.`
      : grantPermissions;
  return `${words} ${advice} ${triedAgain}`;
}
