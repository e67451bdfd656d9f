// EtcdBackups and EtcdRestores in a test: make them, and wait for what their status says.
import assert from "node:assert/strict";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdBackup, type EtcdBackupSpec } from "../../../src/api/etcd-backup/etcd-backup.ts";
import { EtcdRestore, type EtcdRestoreSpec } from "../../../src/api/etcd-restore/etcd-restore.ts";
import type { Key, Kind, KubeObject } from "../../../src/kube/objects/objects.ts";
import { scopeAnnotation } from "../../../src/api/scope.ts";
import { kube, patience } from "../../e2e/support/environment.ts";

type Annotations = Record<string, string>;
/** For an operator of all namespaces. */
const clusterwide: Annotations = { [scopeAnnotation]: "clusterwide" };
/** For an operator of one namespace. */
export const namespaced: Annotations = {};

export async function backUp(key: Key, spec: EtcdBackupSpec, annotations = clusterwide): Promise<void> {
  await kube.create(EtcdBackup, { metadata: { ...key, annotations }, spec });
}

export async function restore(key: Key, spec: EtcdRestoreSpec, annotations = clusterwide): Promise<void> {
  await kube.create(EtcdRestore, { metadata: { ...key, annotations }, spec });
}

export function untilBackup(key: Key, what: string, holds: (backup: EtcdBackup) => boolean): Promise<EtcdBackup> {
  return until(EtcdBackup, key, what, holds);
}

export function untilRestore(
  key: Key,
  what: string,
  holds: (restore: EtcdRestore) => boolean,
  everyMs?: number,
): Promise<EtcdRestore> {
  return until(EtcdRestore, key, what, holds, everyMs);
}

/** Fails at once when it has failed. */
export const untilBackedUp = async (key: Key): Promise<EtcdBackup> => {
  const backup = await untilBackup(key, "to be over", ({ status }) => isOver(status?.phase));
  assert.equal(backup.status?.phase, "Succeeded", JSON.stringify(backup.status));
  return backup;
};

export const untilRestored = async (key: Key): Promise<EtcdRestore> => {
  const restore = await untilRestore(key, "to be over", ({ status }) => isOver(status?.phase));
  assert.equal(restore.status?.phase, "Succeeded", JSON.stringify(restore.status));
  return restore;
};

/** Its reason is the answer. */
export async function untilRefused(key: Key): Promise<string> {
  const restore = await untilRestore(key, "to be over", ({ status }) => isOver(status?.phase));
  assert.equal(restore.status?.phase, "Failed", JSON.stringify(restore.status));
  return restore.status?.reason ?? "";
}

const isOver = (phase: string | undefined): boolean => phase === "Succeeded" || phase === "Failed";

function until<T extends KubeObject & { status?: object }>(
  kind: Kind<T>,
  key: Key,
  what: string,
  holds: (object: T) => boolean,
  everyMs = 200,
): Promise<T> {
  let seen: T | undefined;
  return waitFor(
    `${kind.kind} ${key.name}: ${what}`,
    async () => {
      seen = await kube.get(kind, key);
      return holds(seen) ? seen : undefined;
    },
    { timeoutMs: patience, everyMs, lastSeen: () => JSON.stringify(seen?.status) },
  );
}
