// Carries out the actions of a plan, in order. Each has a precondition or a name that is taken once.
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { fieldManager } from "../api/field-manager.ts";
import { unlessNotFound } from "../kube/client/get-or-undefined.ts";
import { ApiError, isAlreadyExists, isConflict, isNotFound } from "../kube/client/errors.ts";
import type { ReconcileContext } from "../kube/controller/reconcile.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { keyOf, keyText } from "../kube/objects/objects.ts";
import type { BackupContext } from "./context.ts";
import type { View } from "./observe/view.ts";
import type { Action } from "./plan/actions.ts";

export type Acted =
  | { readonly t: "done" }
  /** Somebody else wrote meanwhile, and the next reconcile decides anew. */
  | { readonly t: "outdated" }
  /** Kubernetes will say it again until somebody changes something. */
  | { readonly t: "refused"; readonly message: string };

export async function act(
  actions: readonly Action[],
  view: View,
  reconcile: ReconcileContext,
  context: BackupContext,
): Promise<Acted> {
  const log = context.log.with({ backup: keyText(keyOf(view.backup)), reconcileID: reconcile.id });
  for (const action of actions) {
    const { do: what } = action;
    const about = what === "createWorker" ? { pod: action.pod.metadata?.name } : action;
    try {
      await carryOut(action, view, reconcile);
    } catch (error) {
      if (isConflict(error)) return { t: "outdated" };
      if (!(error instanceof ApiError) || !refusing.has(error.reason)) throw error;
      const message = refusalOf(error, action);
      log.warn("refused", { action: what, ...about, because: message });
      return { t: "refused", message };
    }
    log.info("did", { action: what, ...about });
  }
  return { t: "done" };
}

async function carryOut(action: Action, { backup }: View, { api, signal }: ReconcileContext): Promise<void> {
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

const refusing: ReadonlySet<string> = new Set(["Invalid", "Forbidden", "BadRequest", "RequestEntityTooLarge"]);

function refusalOf({ message, reason }: ApiError, { do: what }: Action): string {
  const words = `${message.trim().replace(/\.+$/, "")}.`;
  if (what !== "createWorker")
    return `${words} See that the operator has the rights that example/rbac lists, and that no policy forbids it.`;
  const advice =
    reason === "Forbidden"
      ? "Change spec.worker so that the namespace takes the pod, or change what forbids it: a ResourceQuota, a LimitRange, the Pod Security level, a policy."
      : "Correct what it names, in spec.worker.";
  return `The worker pod was refused: ${words} ${advice} It is tried again every 10 s.`;
}
