// EtcdBackups and EtcdRestores, made and awaited until they have succeeded. They go with their namespace.
import { EtcdBackup, type EtcdBackupSpec } from "../../src/api/etcd-backup/etcd-backup.ts";
import { EtcdRestore, type EtcdRestoreSpec } from "../../src/api/etcd-restore/etcd-restore.ts";
import type { Kind, KubeObject } from "../../src/kube/objects/objects.ts";
import type { Place } from "../places/place.ts";
import { until } from "../places/until.ts";

export async function backUp(place: Place, name: string, spec: EtcdBackupSpec): Promise<void> {
  await place.ground.api.create(EtcdBackup, { metadata: place.key(name), spec });
  await succeeded(place, EtcdBackup, name);
}

export async function restore(place: Place, name: string, spec: EtcdRestoreSpec): Promise<void> {
  await place.ground.api.create(EtcdRestore, { metadata: place.key(name), spec });
  await succeeded(place, EtcdRestore, name);
}

interface Ending extends KubeObject {
  status?: { phase?: string };
}

async function succeeded<T extends Ending>(place: Place, kind: Kind<T>, name: string): Promise<void> {
  const { api, signal } = place.ground;
  const ended = await until(
    `${kind.kind} ${name} to be over`,
    async () => {
      const { status = {} } = await api.get(kind, place.key(name), { signal });
      const isOver = status.phase === "Succeeded" || status.phase === "Failed";
      return isOver ? status : `its phase is ${status.phase ?? "not there yet"}`;
    },
    signal,
  );
  if (ended.phase !== "Succeeded") throw new Error(`${kind.kind} ${name} failed: ${JSON.stringify(ended)}`);
}
