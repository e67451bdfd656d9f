// Once a member has started it must not start again without its data: it would have forgotten what it voted for, and
// acknowledged writes could be lost with the next failure. From then on its pod does not let it.
import type { Assessment } from "../../assess/assess.ts";
import { hasStarted, type Instance } from "../../assess/instances.ts";
import type { ClusterWorld } from "../../observe/world.ts";
import type { ActionOf } from "../actions.ts";

/**
 * As soon as they answer or etcd knows them by name, and so before anything is built on the seed, and before the others
 * get a vote.
 */
export function guardStarted({ instances, world }: Assessment): readonly ActionOf<"guardPod">[] {
  return [...guardRefusing(world), ...guardInstances(instances)];
}

/** Who refuses the operator has started, and has the users in its data. */
function guardRefusing({ etcd, pods }: ClusterWorld): readonly ActionOf<"guardPod">[] {
  if (etcd.t !== "accessDenied") return [];
  return pods
    .filter(({ name, guard, terminating }) => guard === "open" && !terminating && etcd.refusing.includes(name))
    .map(({ name, uid }) => ({ do: "guardPod", member: name, uid }));
}

function guardInstances(instances: readonly Instance[]): readonly ActionOf<"guardPod">[] {
  return instances.flatMap((instance): ActionOf<"guardPod">[] => {
    const { name, pod } = instance;
    if (pod?.guard !== "open" || pod.terminating || !hasStarted(instance)) return [];
    return [{ do: "guardPod", member: name, uid: pod.uid }];
  });
}
