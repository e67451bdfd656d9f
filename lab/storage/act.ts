// Executes one storage action. Each can be repeated after a crash half-way: it finds the disk or the object.
import type { PersistentVolumeClaimCondition } from "kubernetes-types/core/v1.js";
import type { KubeApi } from "../../src/kube/client/api.ts";
import { isAlreadyExists, isNotFound } from "../../src/kube/client/errors.ts";
import { PersistentVolume, PersistentVolumeClaim } from "../../src/kube/objects/kinds.ts";
import type { LabConfig } from "../config.ts";
import { growDisk, makeDisk, removeDisk } from "./disk.ts";
import { type StorageAction, volumeObject } from "./plan.ts";

export async function actOnStorage(lab: LabConfig, api: KubeApi, action: StorageAction): Promise<void> {
  switch (action.do) {
    case "provision":
      return provision(lab, api, action);
    case "grow":
      return grow(lab, api, action);
    case "reclaim":
      return reclaim(lab, api, action.volume);
  }
}

async function provision(
  lab: LabConfig,
  api: KubeApi,
  action: Extract<StorageAction, { do: "provision" }>,
): Promise<void> {
  const disk = await makeDisk(lab, action.volume, action.bytes);
  try {
    await api.create(PersistentVolume, volumeObject(action, disk.device, disk.bytes));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** What an external resizer does: grows the device, updates the volume, and leaves the rest to the node's kubelet. */
async function grow(lab: LabConfig, api: KubeApi, action: Extract<StorageAction, { do: "grow" }>): Promise<void> {
  const { claim, volume, storage } = action;
  const progress = (status: string, condition: string): object => ({
    status: {
      allocatedResources: { storage },
      allocatedResourceStatuses: { storage: status },
      conditions: [
        { type: condition, status: "True", lastTransitionTime: new Date().toISOString() },
      ] satisfies PersistentVolumeClaimCondition[],
    },
  });
  const inStatus = { subresource: "status" } as const;
  await api.mergePatch(PersistentVolumeClaim, claim, progress("ControllerResizeInProgress", "Resizing"), inStatus);
  await growDisk(lab, volume, action.bytes);
  const capacity = { spec: { capacity: { storage } } };
  await api.mergePatch(PersistentVolume, { namespace: "", name: volume }, capacity);
  await api.mergePatch(
    PersistentVolumeClaim,
    claim,
    progress("NodeResizePending", "FileSystemResizePending"),
    inStatus,
  );
}

async function reclaim(lab: LabConfig, api: KubeApi, volume: string): Promise<void> {
  await removeDisk(lab, volume);
  try {
    await api.delete(PersistentVolume, { namespace: "", name: volume });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
