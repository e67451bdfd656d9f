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

const policy = object("Settings of the worker pod, which runs the operator's image and holds the credentials.", {
  serviceAccountName: string(
    "Name of the ServiceAccount of the worker pod, for example for the workload identity of a cloud provider.",
    {
      longest: 253,
    },
  ),
  resources: embedded<ResourceRequirements>(
    "CPU and memory requests and limits of the worker.",
    "ResourceRequirements",
    { emptyIsAbsent: true },
  ),
  scratchSize: string(
    "Size limit of the scratch volume, for example 50Gi. A backup is stored there while it is restored or verified. If unset, twice the size of the backup plus 1 GiB; if that size is not known, 32 GiB or twice the quota.",
    {
      longest: 32,
      rules: [
        matches(
          "^[1-9][0-9]*(k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$",
          "spec.worker.scratchSize must be a size, for example 50Gi or 500Mi.",
        ),
      ],
    },
  ),
  nodeSelector: map("Labels that a node must have to run the worker.", string("Label value.")),
  affinity: embedded<Affinity>(
    "Affinity of the worker pod: on which nodes it runs, and near which other pods.",
    "Affinity",
    { emptyIsAbsent: true },
  ),
  tolerations: embeddedList<Toleration>("Tolerations of the worker pod.", "Toleration"),
  priorityClassName: string("Name of the PriorityClass of the worker pod."),
  imagePullSecrets: embeddedList<LocalObjectReference>(
    "Secrets for pulling the images of the worker pod.",
    "LocalObjectReference",
  ),
  labels: map("Labels added to the worker pod.", string("Label value."), { most: 64 }),
  annotations: map("Annotations added to the worker pod.", string("Annotation value.")),
  deadlineSeconds: defaulted(
    0,
    integer("Maximum run time of a worker pod in seconds, whether it makes progress or not; 0 means no limit.", {
      min: 0,
    }),
  ),
});

export const workerPolicy = filled(policy);
export type WorkerPolicy = CompleteOf<typeof policy>;
