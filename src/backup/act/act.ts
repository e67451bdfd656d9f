// Carries out the actions of a plan, in order. Each has a precondition or a name that is taken once.
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { fieldManager } from "../../api/field-manager.ts";
import { forbidders, grantPermissions, type Obstacle, obstacleOf, triedAgain } from "../../controllers/obstacle.ts";
import type { Execution } from "../../controllers/stages.ts";
import { type ApiError, isAlreadyExists, isConflict, isNotFound } from "../../kube/client/errors.ts";
import { unlessNotFound } from "../../kube/client/get-or-undefined.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { keyOf, keyText } from "../../kube/objects/objects.ts";
import type { BackupContext } from "../context.ts";
import type { BackupWorld } from "../observe/world.ts";
import type { BackupAction } from "../plan/actions.ts";

export type BackupExecution = Execution<BackupWorld, BackupContext>;

/** The first that fails ends it. Undefined: all are done. */
export async function act(actions: readonly BackupAction[], execution: BackupExecution): Promise<Obstacle | undefined> {
  const { world, reconcile, context } = execution;
  const log = context.log.with({ backup: keyText(keyOf(world.backup)), reconcileID: reconcile.id });
  for (const action of actions) {
    const { do: what } = action;
    const about = what === "createWorker" ? { pod: action.pod.metadata?.name } : action;
    try {
      await carryOut(action, execution);
    } catch (error) {
      const obstacle = obstacleOf(error, (words, refusal) => refusalOf(words, refusal, action));
      if (obstacle.t === "refused") log.warn("refused", { action: what, ...about, because: obstacle.because });
      return obstacle;
    }
    log.info("did", { action: what, ...about });
  }
  return undefined;
}

async function carryOut(
  action: BackupAction,
  { world: { backup }, reconcile: { api, signal } }: BackupExecution,
): Promise<void> {
  const key = keyOf(backup);
  switch (action.do) {
    case "createWorker":
      // A name of its own for each attempt: what is there already is this very worker.
      await api.create(Pod, action.pod, { fieldManager, signal }).catch(unless(isAlreadyExists));
      return;
    case "deleteWorker":
      await api
        .delete(Pod, { ...key, name: action.name }, { uid: action.uid, signal })
        .catch(unless((error) => isNotFound(error) || isConflict(error)));
      return;
    case "setFinalizers": {
      const { resourceVersion } = backup.metadata;
      const patch = { metadata: { resourceVersion, finalizers: [...action.finalizers] } };
      await api.mergePatch(EtcdBackup, key, patch, { fieldManager, signal }).catch(unlessNotFound);
      return;
    }
  }
}

const unless =
  (isFine: (error: unknown) => boolean) =>
  (error: unknown): undefined => {
    if (!isFine(error)) throw error;
  };

function refusalOf(words: string, { reason }: ApiError, { do: what }: BackupAction): string {
  if (what !== "createWorker") return `${words} ${grantPermissions}`;
  const advice =
    reason === "Forbidden"
      ? `Change spec.worker so that the namespace takes the pod, or change what forbids it: ${forbidders}.`
      : "Correct what it names, in spec.worker.";
  return `The worker pod was refused: ${words} ${advice} ${triedAgain}`;
}
