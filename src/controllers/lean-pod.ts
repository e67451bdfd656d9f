// What caches keep of a pod's status: what a decision or a sentence rests on. The rest is several times as large.
import type { Pod } from "../kube/objects/kinds.ts";

export function leanStatus({ status }: Pod): NonNullable<Pod["status"]> {
  const { phase, reason, message, podIP, conditions, containerStatuses, initContainerStatuses } = status ?? {};
  return {
    ...(phase !== undefined && { phase }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(podIP !== undefined && { podIP }),
    ...(conditions !== undefined && { conditions }),
    ...(containerStatuses !== undefined && { containerStatuses }),
    ...(initContainerStatuses !== undefined && { initContainerStatuses }),
  };
}
