// Starts the storage of a lab: the default StorageClass, and the process that serves it.
import * as path from "node:path";
import type { KubeApi } from "../../src/kube/client/api.ts";
import { StorageClass } from "../../src/kube/objects/kinds.ts";
import type { LabConfig } from "../config.ts";
import { startDaemon } from "../machine/daemon.ts";
import { provisioner, storageClass } from "./plan.ts";

export async function startStorage(lab: LabConfig, api: KubeApi, signal: AbortSignal): Promise<void> {
  const program = path.join(import.meta.dirname, "main.ts");
  startDaemon(lab, "storage", [process.execPath, program, "--name", lab.name, "--subnet", `${lab.prefix}.0.0/16`]);
  await api.apply(
    StorageClass,
    {
      metadata: { name: storageClass, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner,
      volumeBindingMode: "WaitForFirstConsumer",
      reclaimPolicy: "Delete",
      allowVolumeExpansion: true,
    },
    { fieldManager: "lab", signal },
  );
}
