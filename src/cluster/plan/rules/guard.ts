// Once a member has started it must not start again without its data: it would have forgotten what it voted for, and
// acknowledged writes could be lost with the next failure. From then on its pod does not let it.
import type { Assessment } from "../../assess/assess.ts";
import { hasStarted } from "../../assess/seats.ts";
import type { Action } from "../actions.ts";

/**
 * The seed when the cluster's id is latched, for until then another one may be made in its place; the others as soon as
 * etcd knows them or they answer, and so before they get a vote.
 */
export function guardStarted({ seats, world: { cluster } }: Assessment): readonly Action[] {
  if (cluster.status.clusterId === undefined) return [];
  return seats.flatMap((seat): Action[] => {
    const { name, pod } = seat;
    if (pod?.guard !== "open" || pod.terminating || !hasStarted(seat)) return [];
    return [{ do: "guardPod", member: name, uid: pod.uid }];
  });
}
