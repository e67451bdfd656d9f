// Gives a lab its storage: the default class, and the process that serves it.
import * as path from "node:path";
import { connectKube } from "../../src/kube/client.ts";
import { StorageClass } from "../../src/kube/kinds.ts";
import { kubeconfigCredentials } from "../../src/kube/kubeconfig.ts";
import { kubeconfigPath, type LabConfig } from "../config.ts";
import { startDaemon } from "../daemon.ts";
import { provisioner, storageClass } from "./plan.ts";

export async function startStorage(lab: LabConfig, signal: AbortSignal): Promise<void> {
  const program = path.join(import.meta.dirname, "main.ts");
  startDaemon(lab, "storage", [process.execPath, program, "--name", lab.name, "--subnet", `${lab.prefix}.0.0/16`]);
  using api = connectKube({ credentials: kubeconfigCredentials(kubeconfigPath(lab)), userAgent: "lab-storage" });
  await api.apply(
    StorageClass,
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: storageClass, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner,
      volumeBindingMode: "WaitForFirstConsumer",
      reclaimPolicy: "Delete",
      allowVolumeExpansion: true,
    },
    { fieldManager: "lab", signal },
  );
}
