// Tells the owner of a cluster what was done to it, as Events. Reasons that the operator of 2018 used are kept,
// since people filter by them, and sentences begin as they did.
import { EtcdCluster } from "../../api/etcd-cluster.ts";
import type { NewEvent } from "../../kube/objects/event-object.ts";
import type { Action } from "../plan/actions.ts";
import type { Turn } from "../act/turn.ts";

export function tell(action: Action, { cluster, context, world }: Turn): void {
  for (const happening of happeningsOf(action, isReplaced(action, world))) {
    context.events.record(EtcdCluster, cluster, happening);
  }
}

/** The member is gone for good and another will take its place, unlike one that is no longer wanted. */
function isReplaced(action: Action, { etcd, cluster }: Turn["world"]): boolean {
  if (action.do !== "removeMember" || action.lost !== true || etcd.t !== "quorum") return false;
  return etcd.members.length <= cluster.spec.size;
}

export function happeningsOf(action: Action, replaced: boolean): NewEvent[] {
  const happening = (reason: string, note: string): NewEvent => ({
    type: "Normal",
    reason,
    action: action.do,
    note,
  });
  switch (action.do) {
    case "createSeed":
    case "addMember":
      return [happening("New Member Added", `New member ${action.member} added to cluster`)];
    case "removeMember": {
      const removed = `Existing member ${action.member} removed from the cluster: ${action.because}`;
      const dead = happening("Replacing Dead Member", `The dead member ${action.member} is being replaced`);
      return [...(replaced ? [dead] : []), happening("Member Removed", removed)];
    }
    case "promote":
      return [happening("Member Promoted", `Member ${action.member} holds all data and is a voter now`)];
    case "updatePeerUrl":
      return [
        happening("Address Changed", `Member ${action.member} is found under another address now: ${action.because}`),
      ];
    case "moveLeader":
      return [happening("Leader Moved", "Another member leads now, since the leader is about to go")];
    case "deletePod":
      return [happening("Pod Deleted", `Pod ${action.member} deleted: ${action.because}`)];
    case "latchClusterId":
      return [happening("Cluster Created", `The first member serves; the cluster's id is ${action.clusterId}`)];
    case "labelPod":
      return [happening("Labels Restored", `Pod ${action.member} was given back the labels that it is found by`)];
    case "applyServices":
    case "applyBudget":
    case "createPod":
      break;
  }
  // The others can be seen in their objects, or were told of with the member.
  return [];
}
