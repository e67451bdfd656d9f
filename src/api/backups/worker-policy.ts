// How the pods are placed that do the work of an EtcdBackup or an EtcdRestore.
import type { Affinity, LocalObjectReference, ResourceRequirements, Toleration } from "kubernetes-types/core/v1.js";
import { matches } from "../rules.ts";
import {
  type CompleteOf,
  defaulted,
  embedded,
  embeddedList,
  filled,
  integer,
  map,
  object,
  string,
} from "../schema/schema.ts";

const policy = object("The pod that does the work. It runs the operator's image and holds the credentials.", {
  serviceAccountName: string("The ServiceAccount whose identity the store sees, for workload identity of clouds.", {
    longest: 253,
  }),
  resources: embedded<ResourceRequirements>("Compute resources.", "ResourceRequirements", { emptyIsAbsent: true }),
  scratchSize: string(
    "The most that it may keep in a scratch volume, as in 50Gi. A backup is read from there when it is restored or verified. Absent: twice the backup's size and 1 GiB; 32 GiB, or twice the quota, where the size is not known.",
    {
      longest: 32,
      rules: [
        matches(
          "^[1-9][0-9]*(k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$",
          "spec.worker.scratchSize must be a size, as in 50Gi or 500Mi.",
        ),
      ],
    },
  ),
  nodeSelector: map("Labels that a node must have.", string("A value.")),
  affinity: embedded<Affinity>("Where it may run.", "Affinity", { emptyIsAbsent: true }),
  tolerations: embeddedList<Toleration>("Taints that it tolerates.", "Toleration"),
  priorityClassName: string("Its PriorityClass."),
  imagePullSecrets: embeddedList<LocalObjectReference>("Secrets to pull the images with.", "LocalObjectReference"),
  labels: map("More labels of the pod.", string("A value."), { most: 64 }),
  annotations: map("Annotations of the pod.", string("A value.")),
  deadlineSeconds: defaulted(
    0,
    integer("Ends a run that takes longer, whether it makes progress or not. 0: no limit.", { min: 0 }),
  ),
});

export const workerPolicy = filled(policy);
export type WorkerPolicy = CompleteOf<typeof policy>;
